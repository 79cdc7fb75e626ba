# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bridge: pods and Slurm's own jobs in one queue: preemption, limits, and changes of the cluster while pods wait.
#
# Release: bridge-priority

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

SCHEDULER=slurm-k8s-bridge-priority # bridges with one name would answer each other's pods
bridge_values() {
  cat <<END
bridge:
  enabled: true
  schedulerName: $SCHEDULER
  users:
    - {namespace: $NAMESPACE, uid: 2001, gid: 2001, allow: [partition]}
controller:
  extraConf: |
    PreemptType=preempt/partition_prio
    PreemptMode=REQUEUE
    Licenses=one:1
partitions:
  urgent:
    nodesets: [ALL]
    config: State=UP PriorityTier=10 MaxTime=UNLIMITED
  patient:
    nodesets: [ALL]
    config: State=UP GraceTime=25 MaxTime=UNLIMITED
END
}
URGENT=', "annotations": {"job.slurm-k8s.io/partition": "urgent"}'

# B6: in either direction.
test_preemption_goes_both_ways() {
  local job urgent batch
  enable_bridge
  put_pod low 'sleep 600'
  wait_for 90 "it runs" pod_is low Running
  job=$(pod_job low)
  urgent=$(submit -p urgent -N8 --exclusive --wrap 'sleep 5')
  wait_for 60 "the pod is gone" is_gone low
  wait_for "an event" has_event low Evicted "Slurm job $job: PREEMPTED"
  assert_equal "the pod's job" PREEMPTED "$(job_state "$job")"
  wait_done "$urgent" 60

  batch=$(submit -N8 --exclusive --requeue --wrap 'sleep 600')
  wait_job "$batch" RUNNING 90
  put_pod high 'sleep 600' "$URGENT"
  wait_for 60 "the pod runs" pod_is high Running
  assert_equal "Slurm's job" PENDING "$(job_state "$batch")"
  assert_equal "restarts" 1 "$(job_field "$batch" Restarts)"
  slurm scancel "$batch"
  kubectl delete pod high >/dev/null
}

# As kube-controller-manager does it to the pods of a Kubernetes node that is gone.
collect_pod() { # POD
  kubectl patch pod "$1" --subresource=status --patch '{"status": {"phase": "Failed", "conditions": [
    {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "no such node"}]}}' \
    >/dev/null
  kubectl delete pod "$1" --force --grace-period=0 --ignore-not-found >/dev/null 2>&1 # the engine deletes its own
}

# B6: slurmctld only marks the job until its GraceTime is over. The pod is told at once.
test_preemption_with_a_grace_time() {
  local job urgent
  enable_bridge
  put_pod patient 'sleep 600' ", $KEPT, \"annotations\": {\"job.slurm-k8s.io/partition\": \"patient\"}"
  wait_for 90 "it runs" pod_is patient Running
  job=$(pod_job patient)
  urgent=$(submit -p urgent -N8 --exclusive --wrap true)
  wait_for 20 "what ends it" is_disrupted patient SlurmPreempted
  assert_equal "its job has time" RUNNING "$(job_state "$job")"
  let_go patient
  wait_for 30 "the pod is gone" is_gone patient
  wait_job "$job" PREEMPTED 60
  wait_done "$urgent" 60
}

# B6, B13: the pod is collected before slurmctld can know of the loss.
test_a_lost_kubernetes_node_is_a_node_fail() {
  local job node
  enable_bridge
  put_pod lost 'sleep 600'
  wait_for 90 "it runs" pod_is lost Running
  job=$(pod_job lost)
  node=$(slurm squeue -h -j "$job" -o %N)
  collect_pod lost
  stays 3 has_running_jobs lost 1
  collect_pod "$node"
  wait_job "$job" NODE_FAIL 30
}

waiting_pods() {
  printf '{"apiVersion": "v1", "kind": "List", "items": ['
  for ((i = 0; i < 200; i++)); do
    printf '%s{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "blocked-%d", "labels": {"blocked": "yes"},
      "annotations": {"job.slurm-k8s.io/licenses": "one:1", "job.slurm-k8s.io/partition": "urgent"}}, "spec": %s}' \
      "$( ((i == 0)) || echo ,)" "$i" "$(spec_of true)"
  done
  printf ']}'
}
all_wait_for_licenses() { [[ $(slurm squeue -h -t PD -o %r | grep -c Licenses) == 200 ]]; }

# B14: 200 pods of a higher priority that cannot run, and one that can: the goal is 5 s.
test_pods_that_cannot_run_block_no_other() {
  local holder begin
  enable_bridge
  holder=$(submit -L one:1 --wrap 'sleep 600')
  wait_job "$holder" RUNNING 90
  kubectl apply -f - >/dev/null < <(waiting_pods)
  wait_for 60 "all wait" all_wait_for_licenses
  begin=$(now_ms)
  put_pod runnable true
  within 50 "it is bound" has_job runnable # ten times the goal, for a busy machine
  echo "# bound after $(($(now_ms) - begin)) ms, beside 200 pods that wait" >&2
  kubectl delete pods --selector blocked=yes --wait=false >/dev/null
  slurm scancel "$holder"
  wait_for 60 "their jobs are gone" has_no_jobs
  kubectl delete pod runnable >/dev/null
}
has_no_jobs() { [[ -z $(slurm squeue -h) ]]; }

are_powered_down() { # NODE…
  local node
  for node in "$@"; do node_has_state "$node" POWERED_DOWN || return 1; done
}

# B12: slurmctld with pending jobs of pods, and fewer nodes than when it began.
test_a_deleted_node_ends_no_job_that_waits() {
  local blocker job
  enable_bridge
  # Where a powered-down node would be is unknown: the job excludes these four.
  wait_for 120 "four are powered down" are_powered_down compute-4 compute-5 compute-6 compute-7
  blocker=$(submit -N4 -w 'compute-[0-3]' --exclusive --wrap 'sleep 600')
  wait_job "$blocker" RUNNING 90
  put_pod waits true '' '"nodeSelector": {"kubernetes.io/hostname": "node1"},'
  wait_for "it waits in Slurm" waits_for waits 'Slurm job'
  job=$(job_of waits)
  assert_equal "nodes that it excludes" 'compute-[4-7]' "$(job_field "$job" ExcNodeList)"
  scale 4
  trap 'scale 8' EXIT
  wait_for 60 "four nodes" has_node_count 4
  wait_saved
  kill_container slurmctld
  assert_equal "its job" "$job" "$(job_of waits)"
  slurm scancel "$blocker"
  wait_for 90 "it ran" pod_is waits Succeeded
  assert_equal "its job" "$job" "$(pod_job waits)"
  scale 8
  wait_for 60 "eight nodes" has_node_count 8
  kubectl delete pod waits >/dev/null
}
