# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scontrol reboot, by hand or by a health check, recreates the pod when its jobs are over, and the node comes back.
# sbatch --reboot does not.

# shellcheck source=tests/e2e/gpus.sh
source "$E2E_FOLDER/gpus.sh"

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

# Jobs start on the node until it is idle.
test_reboot_without_asap_waits_for_an_idle_node() {
  local job next uid
  job=$(submit -n1 --mem=50 -w compute-0 --wrap "$(runs_until first)")
  wait_job "$job" RUNNING 60
  uid=$(pod_uid compute-0)
  slurm scontrol reboot reason=e2e compute-0
  next=$(submit -n1 --mem=50 -w compute-0 --wrap "$(runs_until second)")
  wait_job "$next" RUNNING 60
  end_run compute-0 first
  wait_done "$job" 60
  assert_equal "the pod of a node with a job" "$uid" "$(pod_uid compute-0)"
  end_run compute-0 second
  wait_done "$next" 60
  wait_for 60 "compute-0 has a new pod" has_new_pod compute-0 "$uid"
  wait_for 60 "compute-0 is idle" node_is_up compute-0 # Slurm keeps its Reason: "e2e : reboot issued"
  assert_equal "restarts of the jobs" 0/0 "$(job_field "$job" Restarts)/$(job_field "$next" Restarts)"
}

# A node that SuspendTime takes away would be neither up nor DOWN.
test_nextstate_down_keeps_the_node_down() {
  local uid
  trap install_release EXIT
  install_release --set slurm.suspendTime=300
  wait_done "$(submit -w compute-0 --wrap true)" 60
  uid=$(pod_uid compute-0)
  slurm scontrol reboot nextstate=DOWN reason=e2e compute-0
  wait_for 60 "compute-0 has a new pod" has_new_pod compute-0 "$uid"
  wait_for 60 "the end of the reboot" node_has_reason compute-0 "e2e : reboot issued : reboot complete"
  uid=$(pod_uid compute-0)
  node_has_state compute-0 DOWN || fail "compute-0 is $(node_state compute-0)"
  stays 5 node_has_state compute-0 DOWN
  slurm scontrol update nodename=compute-0 state=resume
  wait_for 60 "compute-0 is idle" node_is_up compute-0
  wait_done "$(submit -w compute-0 --wrap true)" 60
  assert_equal "its pod" "$uid" "$(pod_uid compute-0)"
}

test_a_job_with_reboot_keeps_the_pod_of_a_node_that_is_up() {
  local job out uid
  trap install_release EXIT
  install_release --set slurm.suspendTime=300
  # From zero.
  wait_done "$(submit --reboot -N1 -w compute-0 --wrap hostname)" 60
  wait_for 60 "compute-0 is idle" node_is_up compute-0
  uid=$(pod_uid compute-0)
  job=$(submit --reboot -N1 -w compute-0 --wrap "$(runs_until end)")
  wait_job "$job" RUNNING 60
  assert_equal "the pod of an idle node" "$uid" "$(pod_uid compute-0)"
  end_run compute-0 end
  wait_done "$job" 60
  assert_equal "its pod after the job" "$uid" "$(pod_uid compute-0)"
  assert_equal "restarts of the job" 0 "$(job_field "$job" Restarts)"
  # It is for administrators.
  out=$(kubectl exec compute-0 -c slurmd -- setpriv --reuid=65534 --regid=65534 --clear-groups \
    sbatch --chdir=/tmp --reboot --wrap true 2>&1) && fail "a user's job: $out"
  [[ $out == *"only allowed for admins"* ]] || fail "what a user is told: $out"
}

# examples/health-check as docs/admin/operations.md has it, each 5 s and not each minute.
install_health_check() {
  local examples=$E2E_FOLDER/../../examples/health-check
  kubectl delete configmap health-check --ignore-not-found >/dev/null
  kubectl create configmap health-check --from-file="$examples/check" >/dev/null
  # Nodes are idle for over 15 s, and stay.
  install_release -f "$examples/values.yaml" --set controller.extraConfMap.HealthCheckInterval=5,slurm.suspendTime=120
}

# The node has no GPU: the test gives it a link as that of a GPU that is lost, and then fills /dev/shm.
test_a_failed_health_check_recreates_the_pod() {
  local job next uid
  trap install_release EXIT
  install_health_check
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

# Before slurmd starts, as long as ConfigMap lost is there: one of the pod's GPUs has no device file.
# shellcheck disable=SC2016 # for the pod's shell
LOSE='if [[ -e /etc/lost/lost ]]; then files=(/dev/nvidia[0-9]*); rm "${files[0]}"; fi; exec tini -- slurmd-entrypoint'
has_links() { # POD PATTERN: what its two GPUs lead to
  # shellcheck disable=SC2016,SC2053 # for the pod's shell; a pattern
  [[ $(kubectl exec "$1" -c slurmd -- bash -c 'echo $(readlink /run/slurm-k8s/gpu[01])') == $2 ]]
}

test_a_gpu_without_a_device_file_fails_the_check() {
  local uid
  "$BED" device start >/dev/null
  trap 'remove lost; install_release' EXIT
  install_health_check
  kubectl delete configmap lost --ignore-not-found >/dev/null
  kubectl create configmap lost --from-literal=lost=yes >/dev/null
  nodeset lost 1 '"nvidia.com/gpu": 2' \
    '"scalingMode": "Always", "template": {"spec": {"volumes": [
       {"name": "health-check", "configMap": {"name": "health-check", "defaultMode": 365}},
       {"name": "lost", "configMap": {"name": "lost", "optional": true}}]}},' \
    '"command": ["bash", "-c", "'"${LOSE//\"/\\\"}"'"], "volumeMounts": [
       {"name": "health-check", "mountPath": "/etc/health-check"}, {"name": "lost", "mountPath": "/etc/lost"}],'
  wait_for 90 "the failed check" node_has_reason lost-0 "health check: 1 of 2 GPUs have a device file"
  wait_for 60 "a pod with one of its files" has_links lost-0 "/dev/null /dev/null"
  uid=$(pod_uid lost-0)
  kubectl delete configmap lost >/dev/null
  wait_for 120 "another pod" has_new_pod lost-0 "$uid"
  wait_for 120 "a pod with both files" has_links lost-0 "/dev/nvidia* /dev/nvidia*"
  wait_for 90 "lost-0 is idle" node_is_up lost-0
  uid=$(pod_uid lost-0)
  # The check goes on, and finds nothing.
  stays 12 node_is_up lost-0
  assert_equal "its pod" "$uid" "$(pod_uid lost-0)"
}
