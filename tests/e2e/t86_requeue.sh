# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job that loses a pod runs again within seconds, whatever Slurm's delay after a requeue; what a person chose stays.

# Longer than anything that is waited for here. Pods of nodes in use may be evicted.
with_long_delay() {
  install_release --set slurm.requeueDelay=120 --set nodesets.compute.workloadDisruptionProtection=false
}
runs_again() { [[ $(job_field "$1" Restarts) -ge 1 && $(job_state "$1") == RUNNING ]]; }
is_requeued() { [[ $(job_field "$1" Restarts) -ge 1 ]]; }
is_pending() { [[ $(job_state "$1") == PENDING ]]; }

delete_by_force() { kubectl delete pod "$1" --force --grace-period=0 >/dev/null 2>&1; }
delete_pod() { kubectl delete pod "$1" --wait=false >/dev/null; }
evict() { # as `kubectl drain` does
  kubectl create --raw "/api/v1/namespaces/$NAMESPACE/pods/$1/eviction" --filename=- >/dev/null <<JSON
{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"$1","namespace":"$NAMESPACE"}}
JSON
}
end_slurmd() { kubectl exec "$1" -c slurmd -- sh -c 'kill -TERM 1'; }
kill_slurmd() { BED_NAMESPACE=$NAMESPACE "$BED" fault kill "$1/slurmd" >/dev/null; }

# loses_a_pod JOB FAULT: its last node's. It takes 5 s (tests/bench/requeue); the delay is 120 s.
loses_a_pod() {
  local begin
  wait_job "$1" RUNNING 60
  begin=$(now_ms)
  "$2" "$(job_nodes "$1" | tail -1)"
  wait_for "job $1 runs again after $2" runs_again "$1"
  echo "# runs again after $2: $(($(now_ms) - begin)) ms" >&2
}

test_jobs_that_lose_a_pod_run_again() {
  local job fault
  trap install_release EXIT
  with_long_delay
  for fault in delete_by_force delete_pod evict end_slurmd kill_slurmd; do
    job=$(submit -N1 --requeue --wrap 'sleep 300')
    loses_a_pod "$job" "$fault"
    slurm scancel "$job"
  done
  # The nodes that stay up were in the former run: they take the new credential.
  for fault in delete_by_force kill_slurmd evict; do
    job=$(submit -N4 --requeue --wrap 'srun sleep 300')
    loses_a_pod "$job" "$fault"
    has_steps() { slurm squeue -h -s -j "$job" | grep -c "$job.0" >/dev/null; }
    wait_for "its step runs, too" has_steps
    assert_equal "restarts" 1 "$(job_field "$job" Restarts)"
    slurm scancel "$job"
  done
}

# Its end takes some seconds on the node that stays up: until then a person can say otherwise.
lose_a_node_slowly() { # prints the job
  local job
  job=$(submit -N2 --requeue --wrap 'srun bash -c "trap \"sleep 20; exit\" TERM; for i in {1..300}; do sleep 1; done"')
  wait_job "$job" RUNNING 60 || return 1
  delete_by_force "$(job_nodes "$job" | tail -1)"
  wait_for "job $job requeued" is_requeued "$job" || return 1
  echo "$job"
}

test_what_a_person_chose_stays() {
  local job
  trap install_release EXIT
  with_long_delay
  job=$(lose_a_node_slowly)
  slurm scontrol hold "$job"
  wait_for 60 "the end of its former run" is_pending "$job"
  stays 8 is_pending "$job"
  [[ $(job_field "$job" Reason) == JobHeld* ]] || fail "reason $(job_field "$job" Reason)"
  slurm scancel "$job"

  job=$(lose_a_node_slowly)
  slurm scontrol update "jobid=$job" StartTime=now+3000
  wait_for 60 "the end of its former run" is_pending "$job"
  stays 8 is_pending "$job"
  assert_equal "reason" BeginTime "$(job_field "$job" Reason)"
  slurm scancel "$job"

  job=$(submit -N1 --requeue --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  slurm scontrol requeue "$job"
  wait_for "job $job requeued" is_pending "$job"
  stays 8 is_pending "$job"
  slurm scancel "$job"
}
