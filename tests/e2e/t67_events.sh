# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `kubectl describe` of a NodeSet lists what the sidecar did and invalid fields, once each. The
# NodeSet "events" is not the chart's.
#
# Alone: test_a_cordon_and_a_roll_out

events() { # REPLICAS FIELDS: makes it
  local slurmd
  slurmd=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "events", "namespace": "$NAMESPACE"},
 "spec": {"replicas": $1, "slurmd": $slurmd, "template": {"metadata": {"annotations": {"e2e": "${2:-}"}}}}}
END
}
without_events() {
  kubectl uncordon node1 >/dev/null
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io events --ignore-not-found >/dev/null
  wait_for 60 "no node of events" has_nodes 'compute-[0-7]'
}
described() { kubectl describe nodesets.slurm-k8s.io events | sed -n '/^Events:/,$p'; }
tells() { described | grep -cE "$1" >/dev/null; } # REGULAR EXPRESSION: TYPE +REASON.*NOTE
event_count() { kubectl get events --field-selector involvedObject.name=events -o name | grep -c . || true; }

test_scale_and_bad_input() {
  local before restarts
  trap without_events EXIT
  events 2
  wait_for "that nodes were made" tells 'Normal +NodesCreated .*events-\[0-1\] \(2\)'
  kubectl scale nodesets.slurm-k8s.io/events --replicas=1 >/dev/null
  wait_for "that one was removed" tells 'Normal +NodesRemoved .*events-1 \(1\)'
  kubectl patch nodesets.slurm-k8s.io events --type=merge -p '{"spec":{"extraConf":"CoresPerSocket=999"}}' >/dev/null
  wait_for "what is wrong" tells 'Warning +InvalidSpec .*spec.extraConf: Invalid value: "CoresPerSocket=999"'
  # Nothing changes any more, for the next sidecar either.
  before=$(event_count)
  restarts=$(container_field sidecar restartCount)
  "$BED" fault kill slurm-controller-0/sidecar
  wait_for 90 "the next sidecar" container_is_back sidecar "$restarts"
  has_event_count() { [[ $(event_count) == "$1" ]]; }
  stays 8 has_event_count "$before"
}

test_a_cordon_and_a_roll_out() {
  local job
  trap without_events EXIT
  events 1 former
  wait_for "its node" has_node_count 9
  job=$(submit -N1 -w events-0 --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  kubectl cordon node1 >/dev/null
  wait_for "why its node is drained" tells \
    'Warning +KubernetesNodeUnfit .*events-0 \(1\): kubernetes node node1 is cordoned'
  kubectl uncordon node1 >/dev/null
  wait_for "that it serves again" tells 'Normal +NodesUndrained .*events-0 \(1\)'
  events 1 new
  wait_for "the roll-out's beginning" tells 'Normal +RollOutStarted .*template 1-'
  wait_for "that it waits for a job" tells 'Normal +NodesDrained .*events-0 \(1\): update of the template'
  events 1 former
  wait_for "the roll-out's end" tells 'Normal +RollOutDone .*no node has a previous template'
  tells 'Normal +PowerUp .*for job' || fail "nothing of the engine's: $(described)"
  assert_equal "job" RUNNING "$(job_state "$job")"
}
