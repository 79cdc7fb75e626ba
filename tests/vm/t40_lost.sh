# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine that is lost, with its kubelet, its pods and its network: for seconds, and for good.
#
# Release: vm_lost

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

# Nodes that begin on the virtual machine, and may run on the other.
prepare() {
  start_vm
  need_release --set-string controller.extraConf=SlurmdTimeout=30
  put_nodeset both 2 "$PREFER_THE_VM"
}
ready() { kubectl get node "$VM" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}'; }
is_lost() { [[ $(ready) == Unknown ]]; }
is_back() { [[ $(ready) == True ]]; }
runs_again() { [[ $(job_field "$1" Restarts) == 1 ]] && is_job_in "$1" "RUNNING COMPLETED"; }

test_a_machine_is_silent_for_seconds() {
  local job uid
  trap '"$BED" fault continue "$VM"; remove_nodeset both' EXIT
  prepare
  job=$(submit --requeue -w both-0 --wrap 'sleep 40')
  wait_job "$job" RUNNING 300
  has_started_on both-0 "$VM" || fail "both-0 is not on $VM"
  uid=$(pod_uid both-0)
  "$BED" fault stop "$VM"
  # Less than the 30 s of SlurmdTimeout and the 50 s after which Kubernetes takes a node for lost.
  stays 15 is_job_in "$job" RUNNING
  "$BED" fault continue "$VM"
  wait_done "$job" 120
  assert_equal "restarts, uid of the pod" "0 $uid" "$(job_field "$job" Restarts) $(pod_uid both-0)"
  is_back || fail "$VM is not ready"
}

test_a_machine_is_lost_for_good() {
  local job since
  trap 'start_vm; remove_nodeset both; remove_nodeset vm' EXIT
  prepare
  # What runs again ends at once.
  # shellcheck disable=SC2016 # the job's own variable
  job=$(submit --requeue --constraint=both --exclusive --wrap 'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then sleep 900; fi')
  wait_job "$job" RUNNING 300
  assert_equal "node" both-0 "$(job_nodes "$job")"
  has_started_on both-0 "$VM" || fail "both-0 is not on $VM"

  "$BED" fault kill "$VM"
  since=$(now_ms)
  wait_for 120 "the job runs again" runs_again "$job"
  echo "# $((($(now_ms) - since) / 1000)) s after the loss the job runs on $(job_nodes "$job") (SlurmdTimeout is 30 s)"
  wait_done "$job" 60
  has_started_on "$(job_nodes "$job")" node1 || fail "$(job_nodes "$job") is not on node1"
  wait_for 120 "Kubernetes knows" is_lost
  echo "# $((($(now_ms) - since) / 1000)) s after the loss $VM is not ready; both-0: $(node_state both-0), $(node_reason both-0)"

  # As an administrator or a cloud does it.
  kubectl delete node "$VM" >/dev/null
  since=$(now_ms)
  wait_done "$(submit -w both-0 --wrap true)" 180
  echo "# $((($(now_ms) - since) / 1000)) s after $VM was deleted both-0 has run a job on the other machine"
  has_started_on both-0 node1 || fail "both-0 is not on node1"

  # It comes back as it was, and serves.
  "$BED" fault start "$VM"
  put_nodeset vm 1 "$ON_THE_VM"
  wait_done "$(submit -w vm-0 --wrap true)" 300
}
