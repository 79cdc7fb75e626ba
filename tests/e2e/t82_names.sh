# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld never waits for a name: nodes without a pod, clients that no name server knows, a name server that is away.
#
# Alone: test_a_name_server_that_is_away

# shellcheck source=tests/e2e/answers.sh
source "$E2E_FOLDER/answers.sh"

reconfigure() {
  slurm scontrol reconfigure
  wait_for 60 "slurmctld answers" controller_ready
  slurm squeue >/dev/null
}

names_nodeset() { # 100 nodes whose pods no Kubernetes node takes
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "names"}, "spec": {"replicas": 100,
 "slurmd": {"image": "x", "resources": {"limits": {"cpu": "1", "memory": "100Mi"}}},
 "template": {"spec": {"nodeSelector": {"none": "such"}}}}}
END
}
other_nodeset() { # NAME
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "$1"}, "spec": {"replicas": 2,
 "slurmd": {"image": "x", "resources": {"limits": {"cpu": "1", "memory": "100Mi"}}}}}
END
}
remove_nodesets() {
  kubectl delete nodesets.slurm-k8s.io names other --ignore-not-found >/dev/null
  wait_for 60 "8 node records" has_node_count 8
}
count_in() { slurm sinfo -h -N -o '%N %T' | grep -cE "^names-.* $1" || true; }
has_count_in() { (($(count_in "$1") == $2)); }

set_up() {
  WORK=$(mktemp -d)
  trap 'remove_nodesets; rm -rf "$WORK"' EXIT
  take_baseline compute-7 reconfigure
  names_nodeset
  wait_for 60 "108 node records" has_node_count 108
}

# All of them fail, and slurmctld is reconfigured in the second before it powers them down: what is left of a node then
# has no address. It was set FUTURE, and was neither found nor could it be made again.
fail_and_reconfigure() {
  slurm scontrol update 'nodename=names-[0-98]' state=power_up
  wait_for "99 nodes powering up" has_count_in '.*#' 99
  slurm bash -c "scontrol update 'nodename=names-[0-98]' state=down reason=e2e
    scontrol update 'nodename=names-[0-98]' state=power_down
    scontrol reconfigure"
  wait_for 60 "slurmctld answers" controller_ready
  slurm squeue >/dev/null
}

test_failed_nodes() {
  set_up
  slowest_answer names-99 fail_and_reconfigure
  assert_answers "99 failed nodes and a reconfiguration"
  slowest_answer names-99 other_nodeset other
  assert_answers "a new NodeSet beside them"
  wait_for 60 "110 node records" has_node_count 110
  assert_equal "no record is lost" "" "$(slurm scontrol show nodes --future -o |
    grep -oE 'NodeName=names-.*NO NETWORK.*' || true)"
  if kubectl logs "$CONTROLLER" -c slurmctld --since=300s | grep -E '_set_node_addrs: failure|attempt number'; then
    fail "slurmctld found no address for some nodes"
  fi
}

test_what_clients_ask_of_nodes_without_pods() {
  local job
  set_up
  if ! is_slurm_before 23.11; then
    getaddrs() { slurm scontrol getaddrs 'names-[0-99]' >"$WORK/addresses"; }
    slowest_answer names-99 getaddrs
    assert_answers "scontrol getaddrs of 100 nodes"
    assert_equal "addresses" 100 "$(grep -c 127.255.255.255 "$WORK/addresses")"
  fi
  no_allocate() { slurm timeout 15 srun --no-allocate -N10 -w 'names-[0-9]' true >"$WORK/srun" 2>&1 || true; }
  slowest_answer names-99 no_allocate
  assert_answers "srun --no-allocate"
  grep -q 'names-[0-9]' "$WORK/srun" || fail "srun did not get as far as its nodes: $(cat "$WORK/srun")"
  job=$(submit -N10 -w 'names-[10-19]' --wrap 'sleep 300')
  wait_job "$job" CONFIGURING 30
  signals() { for _ in {1..10}; do slurm scancel --signal=USR1 "$job" || true; done; }
  slowest_answer names-99 signals
  assert_answers "signals to a job whose pods start"
  assert_equal "the job" CONFIGURING "$(job_state "$job")"
}

# Steps whose srun is at a host that no name server knows: when they end slurmctld tells their srun so.
test_a_client_without_a_name() {
  set_up
  local job
  gcc -shared -fPIC -O1 -o "$WORK/other_host.so" "$E2E_FOLDER/other_host.c"
  slurm bash -c 'cat >/tmp/other_host.so' <"$WORK/other_host.so"
  job=$(submit -N1 -C compute --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  steps() {
    slurm bash -c "for i in {1..10}; do
        LD_PRELOAD=/tmp/other_host.so timeout 100 srun --jobid=$job --overlap true &
      done; wait"
    slurm scancel "$job"
    wait_job "$job" CANCELLED 60
  }
  slowest_answer names-99 steps
  assert_answers "ten srun from nowhere"
}

test_a_name_server_that_is_away() {
  set_up
  trap '"$BED" fault continue coredns >/dev/null 2>&1; remove_nodesets; rm -rf "$WORK"' EXIT
  "$BED" fault stop coredns >/dev/null
  slowest_answer names-99 fail_and_reconfigure
  # slurmctld waits 0.4 s for a silent name server, and again when that is over (nss/wait_budget.hpp).
  assert_answers "failed nodes without a name server" 5000
  "$BED" fault continue coredns >/dev/null
}

# A node of NodeSet names without an address that slurmctld could use: an IPv6 one, where only IPv4 is enabled.
lose_a_node() {
  slurm scontrol update nodename=names-5 state=power_up
  wait_for "names-5 powering up" node_has_state names-5 POWERING_UP
  slurm bash -c "scontrol update nodename=names-5 state=down reason=e2e
    scontrol update nodename=names-5 nodeaddr=fd00::1
    scontrol update nodename=names-5 state=power_down
    scontrol reconfigure"
}
node_is_made() { slurm scontrol show node "$1" 2>/dev/null | grep -cF DYNAMIC_NORM >/dev/null; }

test_lost_records_come_back() {
  needs_slurm 23.11
  set_up
  lose_a_node
  wait_for 60 "slurmctld answers" controller_ready
  kubectl logs "$CONTROLLER" -c slurmctld --since=300s | grep -c '_set_node_addrs: failure on fd00::1' >/dev/null ||
    fail "slurmctld hasn't lost the node"
  wait_for 90 "names-5 is there again" node_is_made names-5
  wait_for "the condition" nodeset_is_ready names
}
nodeset_is_ready() { [[ $(nodeset_condition "$1" status) == True ]]; }
