# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bridge (B5): its pods while the bridge, slurmctld and the API server are killed, and with a slurmctld that comes
# back with an old or an empty state.
#
# Alone: test_pods_outlive_the_api_server test_pods_outlive_the_bridge_and_slurmctld test_pods_outlive_random_faults
# Alone: test_a_pod_that_does_not_end_is_told
# Release: bridge-faults

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

SCHEDULER=slurm-k8s-bridge-faults
PODS=100
bridge_values() { values_with_one_user; }

kill_bridge() { kill_container bridge; }
start_pods() { # NAME SECONDS
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "$1"}, "spec": {"parallelism": 40, "completions": $PODS,
 "backoffLimit": 0, "template": {"spec": $(spec_of "sleep $2")}}}
END
}
job_status() { kubectl get job.batch "$1" -o jsonpath="{.status.$2}"; }
has_succeeded() { [[ $(job_status "$1" succeeded) -ge $2 ]]; }
has_running_job() { [[ $(slurm squeue -h -n "$1" -t R,CF -o %A) ]]; } # NAME
no_slurm_jobs() { # but wait_saved's, which an older state has again
  local names
  names=$(slurm squeue -h -o %j) && [[ -z $(grep -v '^saved-' <<<"$names") ]]
}
wait_for_no_job() { wait_for 60 "no job" no_slurm_jobs || { slurm squeue | sed 's/^/# /' >&2; return 1; }; }

# A pod that was deleted, or that failed, ends the Job: backoffLimit is 0. The Job's controller may make more than it
# should when the API server was away (TooManySucceededPods).
all_have_run_once() { # NAME
  wait_for 300 "all pods succeeded" has_succeeded "$1" "$PODS"
  assert_equal "failed pods" "" "$(job_status "$1" failed | tr -d 0)"
  assert_equal "pods that have not succeeded" "" \
    "$(kubectl get pods -l "job-name=$1" --field-selector status.phase!=Succeeded -o name)"
  wait_for_no_job
  kubectl delete job.batch "$1" >/dev/null
}

test_pods_outlive_the_bridge_and_slurmctld() {
  local fault done=5
  enable_bridge
  fresh_controller
  start_pods random 3
  for fault in kill_bridge kill_slurmctld kill_bridge kill_slurmctld; do
    wait_for 120 "some pods have ended" has_succeeded random "$done"
    done=$((done + 15))
    "$fault"
  done
  all_have_run_once random
}

test_pods_outlive_the_api_server() {
  enable_bridge
  fresh_controller
  start_pods served 3
  wait_for 120 "some pods have ended" has_succeeded served 5
  kill_api_server
  kill_bridge
  wait_for 120 "some pods have ended" has_succeeded served 30
  kill_api_server
  all_have_run_once served
}

# BRIDGE_SEED repeats a run: the same faults, after as many pods and milliseconds. At most three of a kind: the kubelet
# waits longer after each end of a container.
test_pods_outlive_random_faults() {
  local seed=${BRIDGE_SEED:-$RANDOM} done=0 fault number pause left
  echo "# BRIDGE_SEED=$seed"
  RANDOM=$seed
  left=(kill_{bridge,slurmctld,sidecar,api_server}{,,})
  enable_bridge
  fresh_controller
  start_pods seeded 2
  for fault in {1..8}; do
    number=$((RANDOM % ${#left[@]}))
    done=$((done + 1 + RANDOM % 12))
    pause=$((RANDOM % 2000))
    wait_for 180 "$done pods have ended" has_succeeded seeded "$done"
    sleep "$(printf '%d.%03d' $((pause / 1000)) $((pause % 1000)))"
    echo "# $fault: ${left[number]} $pause ms after $done pods"
    "${left[number]}"
    left=("${left[@]:0:number}" "${left[@]:number+1}")
  done
  all_have_run_once seeded
}

# The pod's job is not in the state: it was submitted later.
test_an_old_state_deletes_no_pod() {
  local volume copy old lost
  enable_bridge
  fresh_controller
  volume=$(volume_of_state)
  copy=$(mktemp -d)
  put_pod early 'sleep 600'
  wait_for 90 "it runs" pod_is early Running
  old=$(pod_job early)
  wait_saved
  cp --archive "$volume/." "$copy/"
  put_pod late 'sleep 600'
  wait_for 90 "it runs" pod_is late Running
  lost=$(pod_job late)
  go_back_to "$copy" "$volume"
  rm -rf "$copy"
  wait_for 60 "what the bridge says" has_event late SlurmJobUnknown "Slurm job $lost is unknown to slurmctld"
  stays 15 pod_is late Running
  pod_is early Running || fail "the pod that slurmctld knows has ended"
  assert_equal "job of the other pod" RUNNING "$(job_state "$old")"
  kubectl delete pod early late --wait=false >/dev/null
  wait_for_no_job
}

# NAME: a pod whose job the slurmctld of now has never had. Sets `lost` to that job's id.
run_and_forget() {
  local volume copy
  volume=$(volume_of_state)
  copy=$(mktemp -d)
  chown --reference="$volume" "$copy"
  chmod --reference="$volume" "$copy"
  slurm sbatch --hold --output=/dev/null --wrap true >/dev/null # the forgotten job is not job 1
  put_pod "$1" 'sleep 600'
  wait_for 90 "it runs" pod_is "$1" Running
  lost=$(pod_job "$1")
  go_back_to "$copy" "$volume"
  rm -rf "$copy"
  wait_for 60 "what the bridge says" has_event "$1" SlurmJobUnknown "Slurm job $lost is unknown to slurmctld"
}

# NAME: Slurm takes its node for free. No CPU is given twice: the job of another pod waits there until it goes.
is_in_the_way() {
  put_pod new 'sleep 1'
  wait_for 60 "the new pod has a job" has_running_job new
  stays 15 pod_is new Pending
  pod_is "$1" Running || fail "the pod of the forgotten job has ended"
  kubectl delete pod "$1" >/dev/null
  wait_for 120 "the new pod runs" pod_is new Succeeded
}

test_an_empty_state_deletes_no_pod() {
  local lost
  enable_bridge
  fresh_controller
  run_and_forget stays-here
  stays 15 pod_is stays-here Running
  is_in_the_way stays-here
  kubectl delete pod new --wait=false >/dev/null
}

test_an_empty_state_gives_an_id_again() {
  local lost id=0
  enable_bridge
  fresh_controller
  run_and_forget has-been
  while ((id < lost - 1)); do id=$(slurm sbatch --parsable --hold --output=/dev/null --wrap true); done
  is_in_the_way has-been
  assert_equal "the id of the new pod's job" "$lost" "$(pod_job new)"
  kubectl delete pod new --wait=false >/dev/null
  slurm scancel --state=PENDING
}

overdue_pods() {
  kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/$CONTROLLER:9101/proxy/metrics" |
    sed -n 's/^slurm_k8s_bridge_pods_overdue //p'
}
has_overdue_pods() { [[ $(overdue_pods) == "$1" ]]; }
is_terminating() { [[ $(pod_field "$1" .metadata.deletionTimestamp) ]]; }

# Its kubelet does not answer: 5 s of grace, then a minute.
test_a_pod_that_does_not_end_is_told() {
  local job node
  enable_bridge
  put_pod stuck 'sleep 600'
  wait_for 90 "it runs" pod_is stuck Running
  job=$(pod_job stuck)
  node=$(job_nodes "$job")
  trap '"$BED" fault start kubelet 2>/dev/null' EXIT
  "$BED" fault stop kubelet
  slurm scancel "$job"
  wait_for "its end has begun" is_terminating stuck
  stays 20 has_overdue_pods 0
  wait_for 120 "an event" has_event stuck SlurmPodOverdue \
    "Slurm job $job: the pod is still terminating on Kubernetes node node1, "
  wait_for "the metric" has_overdue_pods 1
  "$BED" fault start kubelet 2>/dev/null
  wait_for 120 "the pod is gone" is_gone stuck
  wait_for "the metric" has_overdue_pods 0
  wait_for 120 "the node serves again" node_is_undrained "$node"
}
