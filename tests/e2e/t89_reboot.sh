# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scontrol reboot recreates the pod when its jobs are over, and the node comes back.

has_new_pod() { local uid; uid=$(pod_uid "$1" 2>/dev/null) && [[ -n $uid && $uid != "$2" ]]; }

test_reboot_recreates_the_pod() {
  local job next node uid
  job=$(submit -N1 --wrap 'sleep 6')
  wait_job "$job" RUNNING 60
  node=$(job_nodes "$job")
  uid=$(pod_uid "$node")
  slurm scontrol reboot asap nextstate=RESUME reason=e2e "$node"
  next=$(submit -N1 -w "$node" --wrap 'hostname')
  assert_equal "the pod of a node with a job" "$uid" "$(pod_uid "$node")"
  wait_done "$job" 60
  assert_equal "state of the job" COMPLETED "$(job_state "$job")"
  assert_equal "its restarts" 0 "$(job_field "$job" Restarts)"
  wait_for 60 "$node has a new pod" has_new_pod "$node" "$uid"
  wait_done "$next" 120
  assert_equal "state of the next job" COMPLETED "$(job_state "$next")"
  wait_for 60 "$node is idle" node_is_up "$node"
  assert_equal "its Reason" none "$(slurm sinfo -h -N -n "$node" -o %E)"
}

test_powered_down_nodes_are_skipped() {
  wait_for 120 "compute-7 is powered down" node_has_state compute-7 POWERED_DOWN
  slurm scontrol reboot asap nextstate=RESUME compute-7 || true
  sleep 2  # slurmctld issues reboots once a second
  node_has_state compute-7 POWERED_DOWN || fail "compute-7: $(slurm scontrol -o show node compute-7)"
  if kubectl get pod compute-7 >/dev/null 2>&1; then fail "compute-7 has a pod"; fi
}
