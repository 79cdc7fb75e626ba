# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld or a pod goes away at the wrong moment.

test_slurmctld_restarted_while_nodes_power_up() {
  local job
  # The pods stay Pending, so that the restart falls into the power-up.
  hold_pods
  trap let_pods_start EXIT
  job=$(submit -N2 --wrap 'srun hostname')
  wait_for "two pods" has_pod_count 2
  wait_saved
  restart_slurmctld
  let_pods_start
  wait_for 60 "slurmctld up" controller_ready
  wait_done "$job" 120
}

# It goes when its job is over. After a restart the engine compares it with Slurm's record at once.
test_a_node_with_a_job_is_asked_to_power_down() {
  local job node
  job=$(submit -N2 --wrap "srun sh -c '$(runs_until asked)'")
  wait_job "$job" RUNNING 60
  slurm scontrol update "nodename=$(job_nodes "$job" | head -1)" state=power_down_asap
  restart_slurmctld
  wait_for 60 "slurmctld up" controller_ready
  for node in $(job_nodes "$job"); do end_run "$node" asked; done
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  wait_for 60 "no pod" has_pod_count 0
}

test_pod_deleted_under_a_running_job() {
  local job restarts
  job=$(submit -N2 --requeue --wrap '[ "$SLURM_RESTART_COUNT" ] || srun sleep 300')
  wait_job "$job" RUNNING 60
  kubectl delete pod "$(job_nodes "$job" | head -1)" --wait=false >/dev/null
  requeued() { [[ $(job_field "$job" Restarts) -ge 1 ]]; }
  wait_for "job $job requeued" requeued
  wait_done "$job" 180
  restarts=$(job_field "$job" Restarts)
  assert_equal "restarts" 1 "$restarts"
}

test_pod_deleted_before_slurmd_registered() {
  local job
  hold_pods
  trap let_pods_start EXIT
  job=$(submit -N1 -w compute-2 --wrap true)
  wait_for "a pod" has_pod_count 1
  kubectl delete pod compute-2 --force --grace-period=0 >/dev/null 2>&1
  let_pods_start
  wait_done "$job" 120
}

test_an_administrators_comment_stays() {
  local job node
  hold_pods
  trap let_pods_start EXIT
  job=$(submit -N1 --hold --wrap true)
  slurm scontrol update "jobid=$job" 'AdminComment={"project":7}'
  slurm scontrol release "$job"
  wait_for "a pod" has_pod_count 1
  node=$(pods)
  tells() { slurm scontrol show node "$node" -o | grep -c 'Comment=slurm-k8s: waiting: ' >/dev/null; }
  wait_for "$node tells what it waits for" tells
  assert_equal AdminComment '{"project":7}' "$(job_field "$job" AdminComment)"
  let_pods_start
  wait_done "$job" 60
  is_silent() { ! tells; }
  wait_for "$node waits for nothing" is_silent
  assert_equal AdminComment '{"project":7}' "$(job_field "$job" AdminComment)"
}

test_cancelled_while_powering_up() {
  local job
  hold_pods
  trap let_pods_start EXIT
  job=$(submit -N3 --wrap true)
  wait_for "three pods" has_pod_count 3
  slurm scancel "$job"
  wait_job "$job" CANCELLED 30
  let_pods_start
  # What was made comes up, idles, and goes.
  wait_for 120 "no pod left" has_pod_count 0
}

# slurmctld has taken the end of a job, and is killed before it saves that. Nothing of the job runs any more, and Slurm
# itself finds that out after half an hour.
kill_before_the_end_is_saved() { # JOB FILE that the job waits for
  local before node
  before=$(container_field slurmctld restartCount)
  node=$(job_nodes "$1")
  wait_saved # the next save comes 5 s later
  "$BED" fault exec "$node/slurmd" touch "$2" </dev/null
  has_ended() { ctld scontrol show job "$1" -o | grep -c 'JobState=COMPLETED' >/dev/null; }
  within 5 "the end of job $1" has_ended "$1" || true
  "$BED" fault kill "$CONTROLLER/slurmctld"
  wait_for 120 "slurmctld restarted" container_is_back slurmctld "$before"
  wait_for "slurmctld up" controller_ready
}

test_a_job_whose_end_was_not_saved() {
  local try job since
  for try in 1 2 3 4 5; do
    renew_controller # the kubelet waits longer with each restart
    job=$(submit -N1 --requeue --job-name=unsaved \
      --wrap "[ \"\$SLURM_RESTART_COUNT\" ] || until [ -e /tmp/end-$try ]; do sleep 0.1; done")
    wait_job "$job" RUNNING 60
    kill_before_the_end_is_saved "$job" "/tmp/end-$try"
    since=$(now_ms)
    [[ $(job_state "$job") != RUNNING ]] || break
    echo "# try $try: the end of job $job was saved"
    wait_done "$job" 60
  done
  assert_equal "job $job after the restart" RUNNING "$(job_state "$job")"
  is_requeued() { [[ $(job_field "$job" Restarts) == 1 ]]; }
  wait_for 60 "job $job requeued" is_requeued
  kubectl logs "$CONTROLLER" -c slurmctld | grep -F 'their nodes are asked to register' >/dev/null ||
    fail "slurmctld's log does not tell of the request"
  echo "# requeued $((($(now_ms) - since) / 1000)) s after slurmctld was up"
  wait_done "$job" 90
}
