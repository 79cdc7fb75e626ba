# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods that can't start: the cause is told, the whole job is requeued, its other nodes stay, and the node comes back.

reason() { slurm scontrol show node "$1" | grep -oE 'Reason=.*' || true; }
reason_has() { [[ $(reason "$1") == *"$2"* ]]; }
# kubelet says one or the other, depending on whether it has just tried or waits for the next try.
tells_pull() { [[ $1 == *"$2"@(ErrImagePull|ImagePullBackOff):* ]]; } # TEXT WHAT-COMES-BEFORE
reason_tells_pull() { tells_pull "$(reason "$1")" "$2"; }
admin_comment_tells_pull() { tells_pull "$(admin_comment "$1")" "$2"; }
waits_for_nothing() { ! node_comment_has "$1" waiting; }
restarts() { job_field "$1" Restarts; }
was_requeued() { (($(restarts "$1") > 0)); }
power_up_condition() { # NODESET FIELD
  kubectl get nodesets.slurm-k8s.io "$1" -o jsonpath="{.status.conditions[?(@.type=='PowerUpFailing')].$2}"
}
condition_reason_is() { [[ $(power_up_condition "$1" reason) == "$2" ]]; }
has_event() { # NODESET REASON
  [[ $(kubectl get events --field-selector "involvedObject.kind=NodeSet,involvedObject.name=$1,reason=$2" -o name) ]]
}
engine_metrics() {
  kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/slurm-controller-0:9100/proxy/metrics" |
    grep '^slurm_k8s_engine'
}
metric() { engine_metrics | awk -v name="$1" '$1 == name { print $2 }'; } # NAME{LABELS}: its value
failures() { metric 'slurm_k8s_engine_node_failures_total{cause="start"}'; }
failed_again() { (($(failures) > $1)); } # FAILURES before
back_in_service() { [[ $(slurm sinfo -h -n "$1" -o %t | sort -u) == 'idle~' ]]; }

nodeset() { # NAME IMAGE REQUESTS MORE: a NodeSet of two nodes
  kubectl apply -f - >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"$1"},"spec":{"replicas":2,"slurmd":{
  "image":"$2","imagePullPolicy":"IfNotPresent","resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":$3}}${4:-}}}
JSON
  wait_for "10 nodes" has_node_count 10
}
slurmd_image() { kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}'; }
remove_nodeset() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io "$1" --ignore-not-found >/dev/null
  wait_for 90 "8 nodes" has_node_count 8
}

test_an_image_that_can_not_be_pulled() {
  trap 'remove_nodeset broken' EXIT
  nodeset broken slurm-k8s.invalid/none:1 '{"cpu":"10m"}'
  local job start uid
  job=$(submit -N1 -w broken-0 --wrap true)
  is_there() { uid=$(pod_uid broken-0); }
  wait_for "the pod" is_there
  start=$(now_ms)
  wait_for "the cause in the node's Reason" reason_tells_pull broken-0 "slurm-k8s: "
  echo "# the cause is in the Reason $((($(now_ms) - start) / 1000)) s after the pod was made" >&2
  wait_for "the job was requeued" was_requeued "$job"
  wait_for "the cause in the job's AdminComment" admin_comment_tells_pull "$job" "node broken-0: "
  wait_for "the condition" condition_reason_is broken BackingOff
  wait_for "an event on the NodeSet" has_event broken PowerUpFailed
  failed_again 0 || fail "metrics: $(engine_metrics)"
  is_gone() { [[ $(kubectl get pod broken-0 --ignore-not-found -o jsonpath='{.metadata.uid}') != "$uid" ]]; }
  wait_for "the pod is gone" is_gone # after the back-off of 10 s the job has another one
  slurm scancel "$job"
  wait_for "no pod" has_pod_count 0
  wait_for 60 "the node serves again" back_in_service broken-0
  wait_for "the condition is over" condition_reason_is broken NoFailures
}

test_one_of_eight_is_refused() {
  trap 'kubectl delete resourcequota few --ignore-not-found >/dev/null' EXIT
  local there job
  there=$(kubectl get pods --field-selector status.phase!=Succeeded,status.phase!=Failed -o name | grep -c .)
  kubectl create quota few --hard="pods=$((there + 7))" >/dev/null
  job=$(submit -N8 --wrap 'sleep 1')
  wait_for "the job was requeued" was_requeued "$job"
  wait_for "the cause in the job's AdminComment" is_told "$job" "exceeded quota"
  has_cause() { slurm scontrol show node | grep -c 'Reason=slurm-k8s: pod: create: .*exceeded quota' >/dev/null; }
  wait_for 60 "the cause in a node's Reason" has_cause # it is refused again and again
  at_most_seven() { (($(pod_count) <= 7)); } # the other nodes may be powered down meanwhile
  stays 3 at_most_seven
  kubectl delete resourcequota few >/dev/null
  wait_done "$job" 90
  assert_equal "nodes of the job" 8 "$(job_nodes "$job" | grep -c .)"
}

test_an_unschedulable_pod_is_waited_for() {
  trap let_pods_start EXIT
  hold_pods
  local job node
  job=$(submit -N1 --wrap true)
  wait_for "the pod" has_pod_count 1
  node=$(pods)
  # What slurmctld did not take at once it has after the engine's next comparison, 30 s later at most.
  wait_for "the node says what it waits for" \
    node_comment_has "$node" "slurm-k8s: waiting: unschedulable: 0/1 nodes"
  wait_for "so does the job" is_told "$job" "waiting: $node: unschedulable"
  assert_equal "the metric" 1 "$(metric 'slurm_k8s_engine_starting_nodes{waits_for="unschedulable"}')"
  assert_equal "job" CONFIGURING "$(job_state "$job")"
  let_pods_start
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(restarts "$job")"
  wait_for "the Comment is taken back" waits_for_nothing "$node"
}

test_an_unschedulable_pod_is_not_waited_for_longer_than_the_nodeset_says() {
  trap 'remove_nodeset broken' EXIT
  nodeset broken "$(slurmd_image)" '{"memory":"1Gi","cpu":"900m"}' \
    ',"unschedulableGracePeriodSeconds":12,"template":{"spec":{"nodeSelector":{"slurm-k8s.io/no-such":"label"}}}'
  local job start
  job=$(submit -N1 -w broken-1 --wrap true)
  wait_for "the pod" has_pod_count 1
  # Its own time, in whole seconds: a loaded machine sees it late.
  start=$(date --date="$(kubectl get pod broken-1 -o jsonpath='{.metadata.creationTimestamp}')" +%s%3N)
  wait_for "the node says what it waits for" node_comment_has broken-1 "slurm-k8s: waiting: unschedulable"
  wait_for "the job was requeued" was_requeued "$job"
  (($(now_ms) - start >= 12000)) || fail "after $(($(now_ms) - start)) ms already"
  wait_for 60 "the cause" reason_has broken-1 "slurm-k8s: unschedulable" # again, if its first back-off is over
}

waits_for_an_image() { # POD CONTAINER
  [[ $(kubectl get pod "$1" -o jsonpath="{.status.containerStatuses[?(@.name=='$2')].state.waiting.reason}") == \
    @(ErrImagePull|ImagePullBackOff) ]]
}

test_a_container_that_fails_beside_slurmd_ends_no_job() {
  trap 'remove_nodeset broken' EXIT
  nodeset broken "$(slurmd_image)" '{"cpu":"10m"}' ',"template":{"spec":{"containers":[{"name":"lacks",
    "image":"slurm-k8s.invalid/none:1"}]}}'
  local job
  job=$(submit -N1 -w broken-0 --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  wait_for 60 "the other container has no image" waits_for_an_image broken-0 lacks
  stays 12 is_job_in "$job" RUNNING # the engine would wait 5 s
  assert_equal "restarts" 0 "$(restarts "$job")"
}

test_slurmd_ends_beside_a_container_that_runs() {
  trap 'remove_nodeset broken' EXIT
  nodeset broken "$(slurmd_image)" '{"cpu":"10m"}' ',"template":{"spec":{"containers":[{"name":"stays",
    "image":"'"$(slurmd_image)"'","command":["sleep","600"]}]}}'
  local job
  job=$(submit -N1 -w broken-0 --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  "$BED" fault kill broken-0/slurmd
  # SlurmdTimeout is longer.
  wait_for "the cause" reason_has broken-0 "slurm-k8s: pod ended: slurmd ended with exit code 137"
  wait_for "the job was requeued" was_requeued "$job"
}

# slurmctld alone would wait for its slurmd until ResumeTimeout, and set it DOWN then.
test_a_power_down_of_a_node_that_can_not_start() {
  trap let_pods_start EXIT
  hold_pods
  slurm scontrol update nodename=compute-3 state=power_up
  wait_for "the pod" has_pod_count 1
  slurm scontrol update nodename=compute-3 state=power_down
  wait_for 60 "the node is powered down" back_in_service compute-3
  wait_for "the pod is gone" has_pod_count 0
}

test_a_nodeset_that_fails_again_and_again_is_protected() {
  trap 'remove_nodeset broken' EXIT
  nodeset broken slurm-k8s.invalid/none:1 '{"cpu":"10m"}'
  local i job before
  for i in 1 2 3; do
    wait_for 60 "broken-0 is back ($i)" back_in_service broken-0
    before=$(failures)
    slurm scontrol update nodename=broken-0 state=power_up
    wait_for "failure $i" failed_again "$before"
  done
  wait_for "the condition" condition_reason_is broken Protected
  reason_tells_pull broken-1 "slurm-k8s: protected: " || fail "$(reason broken-1)"
  # Jobs that fit elsewhere go there.
  job=$(submit -N1 --constraint='[broken|compute]' --wrap true)
  wait_done "$job" 60
  [[ $(job_nodes "$job") == compute-* ]] || fail "the job ran on $(job_nodes "$job")"
  wait_for 90 "the protection ends" back_in_service broken-1
}

# slurmctld gives a resumed node to no job any more when it has read its configuration again.
full_state() { slurm scontrol show node "$1" | grep -oE 'State=[^ ]*'; }
answers_for() { [[ $(full_state "$1") != *NOT_RESPONDING* ]]; }
serves_after_a_reconfiguration() { # NODE
  local job
  wait_for 60 "$1 is back" back_in_service "$1"
  wait_for 90 "$1 isn't \"not responding\": $(full_state "$1")" answers_for "$1"
  slurm scontrol reconfigure
  job=$(submit -N1 -w "$1" --wrap true)
  wait_done "$job" 60
}

# The Reason alone: in t86_reasons ResumeTimeout passes.
test_a_node_with_the_reason_of_resume_timeout() {
  slurm scontrol update nodename=compute-3 state=down reason="ResumeTimeout reached"
  serves_after_a_reconfiguration compute-3
}

test_a_node_that_an_administrator_resumes() {
  slurm scontrol update nodename=compute-4 state=down reason=e2e
  slurm scontrol update nodename=compute-4 state=resume
  serves_after_a_reconfiguration compute-4
}
