# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two Kubernetes nodes that pods of the bridge share with Slurm's jobs.
#
# Release: vm_bridge

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"
# shellcheck source=tests/e2e/bridge_load.sh
source "$E2E_FOLDER/bridge_load.sh"

# Of both Kubernetes nodes, the larger number. Processes of the virtual machine are not node1's.
count_users() {
  local here there names="^(pod|job)-of-$NAMESPACE"
  here=$(pgrep -cf "$names" || true)
  there=$(in_vm "grep -lE '$names' /proc/[0-9]*/cmdline 2>/dev/null | wc -l")
  echo "$here $there" >>"$WORK/users-$WORKER"
  echo $((here > there ? here : there))
}
most_users() { sort -rn -k "$1,$1" "$WORK/users-$WORKER" | head -1 | cut -d ' ' -f "$1"; } # COLUMN

# B4: with two Kubernetes nodes, each with one node of two CPUs.
test_no_cpu_of_two_kubernetes_nodes_is_given_twice() {
  local most
  trap 'kubectl delete job.batch mixed --ignore-not-found >/dev/null; remove_nodeset apart; scale 8' EXIT
  start_vm
  need_release --set bridge.enabled=true \
    --set "bridge.users[0].namespace=$NAMESPACE,bridge.users[0].uid=2001,bridge.users[0].gid=2001"
  remove_workloads
  scale 0
  wait_for 60 "no node of compute" has_no_node_of compute
  put_nodeset apart 2 "$(apart apart)"
  wait_done "$(submit -w apart-0,apart-1 -N2 --wrap 'srun hostname')" 600
  rm -f "$WORK/users-$WORKER"
  most=$(run_mixed_load direct 20 16 1200)
  echo "# at most $(most_users 1) processes on node1 and $(most_users 2) on $VM, with 2 CPUs each" >&2
  (($(most_users 1) > 0 && $(most_users 2) > 0)) || fail "one of them was not used: this shows nothing"
  ((most <= 2)) || fail "$most processes on 2 CPUs"
}
