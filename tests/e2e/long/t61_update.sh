# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A NodeSet's template changes: how nodes get the new one, that no job pays for it, and that a bad one goes no further.
# The NodeSet "roll" is none of the chart's.

roll() { # REPLICAS FIELDS: makes it
  local slurmd
  slurmd=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd}')
  kubectl apply -f - >/dev/null <<END_OF_NODESET
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "roll", "namespace": "$NAMESPACE"},
 "spec": {"replicas": $1, "slurmd": $slurmd, $2}}
END_OF_NODESET
  wait_for "its node records" has_node_count "$((8 + $1))"
}
without_roll() {
  slurm scancel --me >/dev/null 2>&1 || true
  slurm scontrol delete reservationname=e2e >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io roll --ignore-not-found >/dev/null
  wait_for 60 "no node of roll" has_nodes 'compute-[0-7]'
}
patch_roll() { kubectl patch nodesets.slurm-k8s.io roll --type=merge -p "$1" >/dev/null; }
template() { # TEXT in its annotations
  patch_roll '{"spec":{"template":{"metadata":{"annotations":{"e2e":"'"$1"'"}}}}}'
}
template_of() { kubectl get pod "$1" -o jsonpath='{.metadata.annotations.e2e}'; }
have_template() { # TEXT NODE…: all are up with it
  local node text=$1
  shift
  for node; do [[ $(template_of "$node") == "$text" ]] && node_is_up "$node" || return 1; done
}
# At one moment: asked for one after the other, two nodes that take turns look as if both were away.
count_down() { # HOSTLIST
  local states
  states=$(slurm scontrol show node "$1" -o | grep -oE '\bState=[^ ]*')
  grep -cvE '^State=IDLE\+CLOUD(\+DYNAMIC_NORM)?$' <<<"$states" || true
}
rolled_out() { # FIELD of the condition
  kubectl get nodesets.slurm-k8s.io roll -o jsonpath="{.status.conditions[?(@.type=='RolledOut')].$1}"
}
rolled_out_is() { [[ "$(rolled_out status) $(rolled_out reason)" == "$1" ]]; }
updated() { kubectl get nodesets.slurm-k8s.io roll -o jsonpath='{.status.updatedReplicas}'; }

test_idle_nodes_get_the_new_template_one_after_the_other() {
  local start down most=0
  trap without_roll EXIT
  roll 3 '"scalingMode": "Always", "updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}'
  wait_for 60 "3 nodes up" are_up roll-0 roll-1 roll-2
  wait_for "rolled out" rolled_out_is "True TemplateInUse"
  start=$(now_ms)
  template new
  until have_template new roll-0 roll-1 roll-2; do
    (($(now_ms) - start < 240000)) || { fail "not rolled out after 240 s"; return 1; }
    down=$(count_down 'roll-[0-2]')
    ((down <= most)) || most=$down
    sleep 0.2
  done
  echo "# 3 idle nodes, one at a time: $(($(now_ms) - start)) ms; most that were away: $most"
  # A busy machine may look at none while it is away.
  ((most <= 1)) || fail "$most nodes were away at a time"
  wait_for "rolled out" rolled_out_is "True TemplateInUse"
  assert_equal "updatedReplicas" 3 "$(updated)"
}

test_a_job_that_runs_is_waited_for() {
  local job next uid
  trap without_roll EXIT
  roll 2 '"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}}'
  job=$(submit -N1 -w roll-0 --wrap "$(runs_until job)")
  wait_job "$job" RUNNING 60
  uid=$(pod_uid roll-0)
  template new
  wait_for "roll-0 drained" node_has_reason roll-0 "slurm-k8s: update of the template"
  node_has_state roll-0 DRAIN || fail "roll-0 is $(node_state roll-0)"
  wait_for "the condition" rolled_out_is "False WaitingForJobs"
  assert_equal "updatedReplicas" 1 "$(updated)"
  next=$(submit -N1 -w roll-0 --wrap "$(runs_until next)")
  assert_equal "job" RUNNING "$(job_state "$job")"
  assert_equal "pod" "$uid" "$(pod_uid roll-0)"
  end_run roll-0 job
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  wait_job "$next" RUNNING 90
  assert_equal "template" new "$(template_of roll-0)"
  node_is_undrained roll-0 || fail "roll-0 is $(node_state roll-0)"
  end_run roll-0 next
  wait_done "$next" 60
  wait_for "rolled out" rolled_out_is "True TemplateInUse"
}

test_the_former_template_ends_a_roll_out() {
  local job uid
  trap without_roll EXIT
  roll 1 '"template": {"metadata": {"annotations": {"e2e": "former"}}}'
  job=$(submit -N1 -w roll-0 --wrap "$(runs_until job)")
  wait_job "$job" RUNNING 60
  uid=$(pod_uid roll-0)
  template new
  wait_for "roll-0 drained" node_has_state roll-0 DRAIN
  template former
  wait_for "roll-0 undrained" node_is_undrained roll-0
  wait_for "rolled out" rolled_out_is "True TemplateInUse"
  end_run roll-0 job
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  assert_equal "pod" "$uid" "$(pod_uid roll-0)"
}

test_a_bad_image_stops_and_the_former_one_serves_again() {
  local image uids job restarts
  trap without_roll EXIT
  roll 3 '"scalingMode": "Always", "updateStrategy": {"rollingUpdate": {"maxUnavailable": "25%"}}'
  wait_for 60 "3 nodes up" are_up roll-0 roll-1 roll-2
  image=$(kubectl get nodesets.slurm-k8s.io roll -o jsonpath='{.spec.slurmd.image}')
  uids="$(pod_uid roll-1) $(pod_uid roll-2)"
  patch_roll '{"spec":{"slurmd":{"image":"slurm-k8s.invalid/none:1","imagePullPolicy":"IfNotPresent"}}}'
  wait_for 60 "the condition" rolled_out_is "False Stopped"
  [[ $(rolled_out message) == *ErrImagePull* ]] || fail "message: $(rolled_out message)"
  # It is tried again after 10 s, and fails again; the others serve.
  others_serve() { [[ "$(pod_uid roll-1) $(pod_uid roll-2)" == "$uids" ]] && are_up roll-1 roll-2; }
  stays 15 others_serve
  job=$(submit -N2 -w 'roll-[1-2]' --wrap 'srun true')
  wait_done "$job" 20
  # A restarted sidecar knows.
  restarts=$(container_field sidecar restartCount)
  "$BED" fault kill slurm-controller-0/sidecar
  wait_for 90 "the next sidecar" container_is_back sidecar "$restarts"
  stays 10 others_serve
  patch_roll '{"spec":{"slurmd":{"image":"'"$image"'"}}}'
  wait_for 120 "all serve" are_up roll-0 roll-1 roll-2
  wait_for "rolled out" rolled_out_is "True TemplateInUse"
  others_serve || fail "other pods than before"
  job=$(submit -N3 -w 'roll-[0-2]' --wrap 'srun true')
  wait_done "$job" 20
}

test_on_delete_and_in_a_maintenance_reservation() {
  local uid
  trap without_roll EXIT
  roll 2 '"scalingMode": "Always", "updateStrategy": {"type": "OnDelete"}'
  wait_for 60 "2 nodes up" are_up roll-0 roll-1
  uid=$(pod_uid roll-1)
  template new
  wait_for "the condition" rolled_out_is "False OnDelete"
  kubectl delete pod roll-0 --wait=false >/dev/null
  wait_for 60 "roll-0 with the new template" have_template new roll-0
  assert_equal "pod" "$uid" "$(pod_uid roll-1)"
  patch_roll '{"spec":{"updateStrategy":{"type":"ScheduledUpdate"}}}'
  wait_for "the condition" rolled_out_is "False WaitingForMaintenance"
  assert_equal "pod" "$uid" "$(pod_uid roll-1)"
  slurm scontrol create reservationname=e2e flags=maint,ignore_jobs nodes=roll-1 starttime=now duration=10 users=root \
    >/dev/null
  is_new_pod() { [[ $(template_of roll-1) == new ]]; }
  wait_for 60 "roll-1 with the new template" is_new_pod
  wait_for "rolled out" rolled_out_is "True TemplateInUse"
}
