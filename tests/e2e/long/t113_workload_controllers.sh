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

is_in_every_pod() { # LABEL FIELD VALUE
  [[ $(kubectl get pods -l "$1" -o jsonpath="{range .items[*]}{$2}{\"\n\"}{end}" | sort -u) == "$3" ]]
}
# All Slurm jobs of the pods end so.
all_jobs_are() { # LABEL STATE
  local job
  for job in $(jobs_with "$1"); do wait_job "$job" "$2" 60; done
}

# Pods that run until end_pod tells them how to end.
replicated_job() { # NAME REPLICAS PODS-OF-EACH [FIELDS-OF-IT [FIELDS-OF-THE-JOB]]
  # shellcheck disable=SC2016 # the pod's own
  local wait='until test -e /tmp/end; do sleep 0.2; done; exit $(cat /tmp/end)'
  cat <<END
{"name": "$1", "replicas": $2, ${4:-} "template": {"spec": {"parallelism": $3, "completions": $3, "backoffLimit": 0,
 ${5:-} "template": {"spec": $(spec_of "$wait")}}}}
END
}
create_job_set() { # NAME FIELDS REPLICATED-JOBS
  kubectl create -f - >/dev/null <<END
{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": "$1"}, "spec": {$2
 "replicatedJobs": [$3]}}
END
}
end_pod() { kubectl exec "$1" -- sh -c "echo $2 >/tmp/end.new; mv /tmp/end.new /tmp/end"; } # POD EXIT-CODE

test_a_job_set_of_its_controller() {
  local label=jobset.sigs.k8s.io/jobset-name=train first second pod
  start_controller jobset
  create_job_set train '"failurePolicy": {"maxRestarts": 1},' "$(replicated_job lead 1 1), $(replicated_job work 2 2)"
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

# One replicated Job waits until another has completed: its pods come later, and so are another Slurm job.
test_a_job_set_with_an_order() {
  local label=jobset.sigs.k8s.io/jobset-name=ordered part=jobset.sigs.k8s.io/replicatedjob-name first later pod
  start_controller jobset
  create_job_set ordered '' "$(replicated_job first 1 1),
    $(replicated_job later 1 2 '"dependsOn": [{"name": "first", "status": "Complete"}],')"
  wait_for 120 "the first pod runs" all_run "$label" 1
  first=$(jobs_with "$label")
  assert_equal "its name, its tasks" "ordered 1" "$(job_field "$first" JobName) $(job_field "$first" NumTasks)"
  stays 5 all_run "$label" 1
  end_pod "$(pods_with "$label,$part=first")" 0
  wait_job "$first" COMPLETED 60
  wait_for 120 "the other pods run" all_run "$label,$part=later" 2
  later=$(jobs_with "$label,$part=later") # one, if both pods came within a second
  echo "# Slurm jobs of the pods that came later: $later" >&2
  [[ $later && " $later " != *" $first "* ]] || fail "Slurm jobs: $first, then $later"
  for pod in $(pods_with "$label,$part=later"); do end_pod "$pod" 0; done
  wait_for 60 "the JobSet is completed" field_is jobset ordered .status.terminalState Completed
  all_jobs_are "$label" COMPLETED
  assert_equal "jobs of the JobSet that are left" "" "$(slurm squeue -h -n ordered)"
}

# The coordinator is the first rank where its Job is the first one.
test_a_job_set_with_a_coordinator() {
  local label=jobset.sigs.k8s.io/jobset-name=led part=jobset.sigs.k8s.io/replicatedjob-name job pod lead
  start_controller jobset
  create_job_set led '"coordinator": {"replicatedJob": "lead", "jobIndex": 0, "podIndex": 0},' "
    $(replicated_job lead 1 1 '' '"completionMode": "Indexed",'),
    $(replicated_job work 1 2 '' '"completionMode": "Indexed",')"
  wait_for 120 "its three pods run" all_run "$label" 3
  job=$(jobs_with "$label")
  [[ $job =~ ^[0-9]+$ ]] || fail "Slurm jobs of the pods: $job"
  assert_equal "its name, its tasks" "led 3" "$(job_field "$job" JobName) $(job_field "$job" NumTasks)"
  is_in_every_pod "$label" '.metadata.annotations.jobset\.sigs\.k8s\.io/coordinator' led-lead-0-0.led ||
    fail "the pods do not name the coordinator: $(pod_field "$(pods_with "$label,$part=lead")" .metadata.annotations)"
  lead=$(pods_with "$label,$part=lead")
  assert_equal "rank of the coordinator" 0 "$(pod_field "$lead" '.metadata.annotations.slurm-k8s\.io/rank')"
  # The coordinator ends last: the job is there until then.
  for pod in $(pods_with "$label,$part=work"); do end_pod "$pod" 0; done
  wait_for 60 "the workers have ended" is_in_every_pod "$label,$part=work" .status.phase Succeeded
  assert_equal "the job" RUNNING "$(job_state "$job")"
  end_pod "$lead" 0
  wait_for 60 "the JobSet is completed" field_is jobset led .status.terminalState Completed
  wait_job "$job" COMPLETED 60
  assert_equal "jobs of the JobSet that are left" "" "$(slurm squeue -h -n led)"
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

# The leader has a template of its own. All tasks of the job have the size of the larger pod.
test_a_leader_with_a_template_of_its_own() {
  local label=leaderworkerset.sigs.k8s.io/name=led spec job again
  start_controller lws
  spec=$(spec_of 'sleep 600')
  spec=${spec/Never/Always}
  kubectl create -f - >/dev/null <<END
{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "led"}, "spec": {
 "replicas": 1, "leaderWorkerTemplate": {"size": 3, "leaderTemplate": {"metadata": {"labels": {"e2e": "leader"}},
  "spec": ${spec/32Mi/48Mi}}, "workerTemplate": {"spec": $spec}}}}
END
  wait_for 120 "its three pods run" all_run "$label" 3
  job=$(jobs_with "$label")
  [[ $job =~ ^[0-9]+$ ]] || fail "Slurm jobs of the pods: $job"
  assert_equal "its name, its tasks, memory of a task" "led-0 3 48M" \
    "$(job_field "$job" JobName) $(job_field "$job" NumTasks) $(job_field "$job" MinMemoryCPU)"
  assert_equal "the pod of the leader's template" led-0 "$(pods_with "$label,e2e=leader")"
  assert_equal "rank of the leader" 0 "$(pod_field led-0 '.metadata.annotations.slurm-k8s\.io/rank')"
  # A lost leader: the controller makes its group again.
  kubectl delete pod led-0 >/dev/null
  wait_job "$job" CANCELLED 60
  wait_for 90 "another job" is_other_job "$label" "$job"
  wait_for 120 "all three run" all_run "$label" 3
  again=$(jobs_with "$label")
  kubectl delete leaderworkerset led >/dev/null
  wait_job "$again" CANCELLED 60
  wait_for 60 "no job is left" has_no_job
}
