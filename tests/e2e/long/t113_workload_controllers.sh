# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# R1: JobSet and LeaderWorkerSet with their own controllers and webhooks: what starts together is one Slurm job, and
# what the controllers do afterwards is another one.
#
# Alone: all
# Release: workload-controllers

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

start_controller() { # NAME
  enable_bridge
  trap '"$BED" controller stop '"$1"'; remove_workloads' EXIT
  "$BED" controller start "$1"
}
# Names of the pods that have a label.
pods_with() { kubectl get pods -l "$1" -o jsonpath='{range .items[*]}{.metadata.name}{"\n"}{end}' | grep . | sort; }
# The pods' Slurm jobs, each once.
jobs_with() {
  kubectl get pods -l "$1" -o jsonpath='{range .items[*]}{.metadata.annotations.slurm-k8s\.io/job-id}{"\n"}{end}' |
    sort -u | paste -sd ' '
}
all_run() { # LABEL COUNT
  [[ $(kubectl get pods -l "$1" -o jsonpath='{range .items[*]}{.status.phase}{"\n"}{end}' | grep -cx Running) == "$2" ]]
}
field_of() { kubectl get "$1" "$2" -o jsonpath="{$3}"; } # KIND NAME FIELD
field_is() { [[ $(field_of "${@:1:3}") == "$4" ]]; }
is_other_job() { [[ $(jobs_with "$1") =~ ^[0-9]+$ && $(jobs_with "$1") != "$2" ]]; } # LABEL JOB

end_pod() { kubectl exec "$1" -- sh -c "echo $2 >/tmp/end.new; mv /tmp/end.new /tmp/end"; } # POD EXIT-CODE

test_a_job_set_of_its_controller() {
  # shellcheck disable=SC2016 # the pod's own
  local wait='until test -e /tmp/end; do sleep 0.2; done; exit $(cat /tmp/end)'
  local label=jobset.sigs.k8s.io/jobset-name=train first second pod
  start_controller jobset
  kubectl create -f - >/dev/null <<END
{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "train"}, "spec": {
 "failurePolicy": {"maxRestarts": 1},
 "replicatedJobs": [
  {"name": "lead", "replicas": 1, "template": {"spec": {"parallelism": 1, "completions": 1, "backoffLimit": 0,
    "template": {"spec": $(spec_of "$wait")}}}},
  {"name": "work", "replicas": 2, "template": {"spec": {"parallelism": 2, "completions": 2, "backoffLimit": 0,
    "template": {"spec": $(spec_of "$wait")}}}}]}}
END
  wait_for 120 "its five pods run" all_run "$label" 5
  first=$(jobs_with "$label")
  [[ $first =~ ^[0-9]+$ ]] || fail "Slurm jobs of the pods: $first"
  assert_equal "its name" train "$(job_field "$first" JobName)"
  assert_equal "its tasks" 5 "$(job_field "$first" NumTasks)"
  # One fails: the controller makes all of them again, which are another job.
  pod=$(pods_with "$label" | grep -m 1 work)
  end_pod "$pod" 3
  wait_job "$first" FAILED 60
  assert_equal "exit code" 3:0 "$(job_field "$first" ExitCode)"
  wait_for 60 "another job" is_other_job "$label" "$first"
  wait_for 120 "its five pods run again" all_run "$label" 5
  assert_equal "restarts of the JobSet" 1 "$(field_of jobset train .status.restarts)"
  second=$(jobs_with "$label")
  for pod in $(pods_with "$label"); do end_pod "$pod" 0; done
  wait_for 60 "the JobSet is completed" field_is jobset train .status.terminalState Completed
  wait_job "$second" COMPLETED 60
  assert_equal "jobs of the JobSet that are left" "" "$(slurm squeue -h -n train)"
}

test_a_leader_worker_set_of_its_controller() {
  local label=leaderworkerset.sigs.k8s.io/name=serve group=leaderworkerset.sigs.k8s.io/group-index spec first second
  start_controller lws
  spec=$(spec_of 'sleep 600')
  kubectl create -f - >/dev/null <<END
{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "serve"}, "spec": {
 "replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": ${spec/Never/Always}}}}}
END
  wait_for 120 "its four pods run" all_run "$label" 4
  first=$(jobs_with "$label,$group=0")
  second=$(jobs_with "$label,$group=1")
  [[ $first =~ ^[0-9]+$ && $second =~ ^[0-9]+$ && $first != "$second" ]] || fail "Slurm jobs: $first, $second"
  assert_equal "names" "serve-0 serve-1" "$(job_field "$first" JobName) $(job_field "$second" JobName)"
  assert_equal "tasks" 2 "$(job_field "$first" NumTasks)"
  # A lost pod: the controller makes its whole group again.
  kubectl delete pod serve-0-1 >/dev/null
  wait_job "$first" CANCELLED 60
  wait_for 60 "another job of group 0" is_other_job "$label,$group=0" "$first"
  wait_for 120 "all four run" all_run "$label" 4
  assert_equal "the job of group 1" "$second" "$(jobs_with "$label,$group=1")"
  kubectl patch leaderworkerset serve --type merge --patch '{"spec": {"replicas": 1}}' >/dev/null
  wait_job "$second" CANCELLED 60
  kubectl delete leaderworkerset serve >/dev/null
  wait_for 60 "no job is left" has_no_job
}
