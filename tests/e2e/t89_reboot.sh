# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scontrol reboot, by hand or by a health check, recreates the pod when its jobs are over, and the node comes back.

has_new_pod() { local uid; uid=$(pod_uid "$1" 2>/dev/null) && [[ -n $uid && $uid != "$2" ]]; }

test_reboot_recreates_the_pod() {
  local job next node uid
  job=$(submit -N1 --wrap "$(runs_until end)")
  wait_job "$job" RUNNING 60
  node=$(job_nodes "$job")
  uid=$(pod_uid "$node")
  slurm scontrol reboot asap nextstate=RESUME reason=e2e "$node"
  next=$(submit -N1 -w "$node" --wrap 'hostname')
  assert_equal "the pod of a node with a job" "$uid" "$(pod_uid "$node")"
  end_run "$node" end
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
  slurm scontrol reboot asap nextstate=RESUME compute-7
  sleep 2  # slurmctld issues reboots once a second
  node_has_state compute-7 POWERED_DOWN || fail "compute-7: $(slurm scontrol -o show node compute-7)"
  if kubectl get pod compute-7 >/dev/null 2>&1; then fail "compute-7 has a pod"; fi
}

# examples/health-check as docs/admin/operations.md has it, each 5 s and not each minute. The node has no GPU: the test
# gives it a link as that of a GPU that is lost, and then fills /dev/shm.
test_a_failed_health_check_recreates_the_pod() {
  local examples=$E2E_FOLDER/../../examples/health-check job next uid
  trap install_release EXIT
  kubectl delete configmap health-check --ignore-not-found >/dev/null
  kubectl create configmap health-check --from-file="$examples/check" >/dev/null
  # The node is idle for over 15 s, and stays.
  install_release -f "$examples/values.yaml" --set controller.extraConfMap.HealthCheckInterval=5,slurm.suspendTime=120
  job=$(submit -N1 -w compute-0 --wrap "$(runs_until end)")
  wait_job "$job" RUNNING 60
  uid=$(pod_uid compute-0)
  kubectl exec compute-0 -- ln -s /dev/nvidia9 /run/slurm-k8s/gpu0
  wait_for "the failed check" node_has_reason compute-0 "health check: cannot open /dev/nvidia9"
  node_has_state compute-0 DRAIN || fail "compute-0 is $(node_state compute-0)"
  next=$(submit -N1 -w compute-0 --wrap 'hostname')
  assert_equal "the job" RUNNING "$(job_state "$job")"
  assert_equal "its pod" "$uid" "$(pod_uid compute-0)"
  end_run compute-0 end
  wait_done "$job" 120
  wait_for 60 "compute-0 has a new pod" has_new_pod compute-0 "$uid"
  wait_done "$next" 120
  assert_equal "restarts of the jobs" 0/0 "$(job_field "$job" Restarts)/$(job_field "$next" Restarts)"
  wait_for 60 "compute-0 is idle" node_is_up compute-0
  assert_equal "its Reason" none "$(slurm sinfo -h -N -n compute-0 -o %E)"
  # The check goes on, and finds nothing.
  stays 12 node_is_undrained compute-0
  uid=$(pod_uid compute-0)
  # shellcheck disable=SC2016 # for the pod's shell
  kubectl exec compute-0 -- \
    bash -c 'fallocate -l $(($(df --output=avail -B1 /dev/shm | tail -n 1) * 95 / 100)) /dev/shm/left'
  wait_for 60 "compute-0 has a new pod after the check of /dev/shm" has_new_pod compute-0 "$uid"
  wait_for 60 "compute-0 is idle" node_is_up compute-0
}
