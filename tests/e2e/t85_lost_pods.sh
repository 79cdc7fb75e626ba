# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pod objects that don't go, as those of a lost Kubernetes node: a finalizer keeps them. And Reasons that outlive what
# they were for.

FINALIZER=e2e.slurm-k8s.io/stays

keep_pod() { kubectl patch pod "$1" --type=merge -p "{\"metadata\":{\"finalizers\":[\"$FINALIZER\"]}}" >/dev/null; }
let_pods_go() {
  local pod
  for pod in $(pods); do
    kubectl patch pod "$pod" --type=merge -p '{"metadata":{"finalizers":null}}' >/dev/null 2>&1 || true
  done
}
is_drained_for_pod() {
  node_has_state "$1" DRAIN && node_has_reason "$1" "slurm-k8s: pod not deleted: still terminating" &&
    [[ $(node_reason "$1") == *"on kubernetes node node1, finalizers: $FINALIZER" ]]
}
node_comment() { slurm scontrol show node "$1" | sed -n 's/^ *Comment=//p'; }
has_no_comment() { [[ $(node_comment "$1") != slurm-k8s:* ]]; }
has_comment() { [[ $(node_comment "$1") == "$2"* ]]; }
is_restarted() { [[ $(job_field "$1" Restarts) -ge 1 ]]; }

has_had_a_node() { is_restarted "$1" || [[ $(job_state "$1") == COMPLETED ]]; }
test_a_node_whose_pod_does_not_go_takes_no_job() {
  local job uid up=
  trap let_pods_go EXIT
  wait_done "$(submit -N1 -w compute-0 --wrap true)" 60
  keep_pod compute-0
  uid=$(pod_uid compute-0)
  slurm scontrol update nodename=compute-0 state=power_down
  wait_for "compute-0 drained" is_drained_for_pod compute-0
  wait_for "why in its Comment" has_comment compute-0 "slurm-k8s: waiting: pod still terminating"
  # A job that gets the node all the same doesn't wait for ResumeTimeout. It gets it when slurmctld schedules before the
  # engine has drained the node again. It prefers nodes that are up.
  for _ in {1..6}; do
    wait_for "compute-0 drained" is_drained_for_pod compute-0
    job=$(slurm bash -c "scontrol update nodename=compute-0 state=undrain &&
      sbatch --parsable --output=/dev/null -N1 --requeue --exclude='$up' --wrap true")
    wait_for "the job has a node" has_had_a_node "$job"
    ! is_restarted "$job" || break
    up+=${up:+,}$(job_nodes "$job")
  done
  is_restarted "$job" || fail "no job got the node: job $job is $(job_state "$job")"
  # requeue_delay is 30 s; then slurmctld looks at its queue within sched_interval, 60 s, when nothing else happens.
  wait_done "$job" 120
  [[ $(job_nodes "$job") != compute-0 ]] || fail "the job ran on compute-0"
  wait_for "compute-0 drained again" is_drained_for_pod compute-0
  # Jobs of all other nodes don't wait for it.
  wait_done "$(submit -N7 --wrap 'srun hostname')" 60
  assert_equal "the pod" "$uid" "$(pod_uid compute-0)"

  job=$(submit -N8 --wrap 'srun hostname')
  let_pods_go
  # Its power-down is done once more, by which slurmctld undrains it.
  wait_for "compute-0 undrained" node_is_undrained compute-0
  wait_done "$job" 90
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  wait_for "nothing in its Comment" has_no_comment compute-0
}

test_pods_that_are_deleted_under_a_job_and_stay() {
  local job
  trap let_pods_go EXIT
  job=$(submit -N2 --requeue --wrap "srun bash -c 'if ((\${SLURM_RESTART_COUNT:-0} == 0)); then sleep 300; fi'")
  wait_job "$job" RUNNING 60
  assert_equal "nodes" "compute-0 compute-1" "$(job_nodes "$job" | paste -sd ' ')"
  keep_pod compute-1
  kubectl delete pod compute-1 --wait=false >/dev/null
  wait_for "the job requeued" is_restarted "$job"
  wait_done "$job" 90
  [[ " $(job_nodes "$job" | paste -sd ' ') " != *" compute-1 "* ]] || fail "the job ran on compute-1"
  wait_for "compute-1 drained" is_drained_for_pod compute-1
  let_pods_go
  wait_for "compute-1 undrained" node_is_undrained compute-1
  wait_done "$(submit -N1 -w compute-1 --wrap true)" 60
}

# slurmctld sets wait_all_nodes itself for jobs with cloud nodes that are powered down: engine/plan.hpp,
# select_renewable().
test_a_job_that_does_not_wait_for_all_nodes_does() {
  local job
  wait_done "$(submit -N1 -w compute-0 --wrap true)" 60
  # "mix#" is a node that powers up.
  job=$(submit -N3 --wait-all-nodes=0 --wrap \
    "test \"\$(sinfo -h -N -n \$SLURM_JOB_NODELIST -o %t | sort -u)\" = mix")
  wait_done "$job" 60
}
