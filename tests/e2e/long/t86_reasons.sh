# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reasons that slurmctld keeps or appends to: no node stays DOWN, or is undrained, because of an old text.
#
# Installs a release of its own: each job's end is an "Epilog error", for which slurmctld drains the node by itself.
#
# Release: epilogs

whole_reason() { slurm scontrol show node "$1" | sed -n 's/^ *Reason=//p'; }
# Its Reason says so for a moment.
is_timed_out() {
  [[ $(whole_reason "$1") == *"ResumeTimeout reached"* ]] ||
    kubectl logs "$CONTROLLER" -c slurmctld | grep -c "node $1 not resumed by ResumeTimeout" >/dev/null
}
is_back() { [[ $(slurm sinfo -h -n "$1" -o %t | head -1) == "idle~" ]]; }
is_drained() { node_has_state "$1" DRAIN; }
# Slurm without accounting leaves the Reason of a drain that is over: it is replaced. Other releases clear it.
keeps_reasons() { ! is_slurm_before 23.11 && is_slurm_before 26.05; }

install_with_failing_epilogs() {
  remove_release
  install_release --set slurm.resumeTimeout=30 --set-string controller.extraConf=Epilog=/usr/bin/false
}

test_resume_timeout_behind_a_reason_of_before() {
  install_with_failing_epilogs
  trap 'kubectl delete nodesets.slurm-k8s.io silent --wait=false >/dev/null
    wait_for 90 "8 nodes" has_node_count 8' EXIT
  # Its slurmd never registers.
  kubectl apply -f - >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"silent"},"spec":{"replicas":1,"slurmd":{
  "image":"$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')",
  "imagePullPolicy":"IfNotPresent","command":["sleep","600"],
  "resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"10m"}}}}}
JSON
  wait_for "9 nodes" has_node_count 9
  slurm scontrol update nodename=silent-0 state=drain reason="disk check"
  slurm scontrol update nodename=silent-0 state=undrain
  slurm scontrol update nodename=silent-0 state=power_up
  wait_for "silent-0 powering up" node_has_state silent-0 POWERING_UP
  wait_for 60 "silent-0 given up" is_timed_out silent-0
  echo "# Reason: $(whole_reason silent-0)"
  wait_for 60 "silent-0 back in service" is_back silent-0
}

test_what_slurmctld_drains_stays_drained() {
  local job
  job=$(submit -N1 -w compute-0 --wrap "$(runs_until job)")
  wait_job "$job" RUNNING 60
  # Drained for an update, and undrained since there is none.
  kubectl patch nodesets.slurm-k8s.io compute --type=merge \
    -p '{"spec":{"template":{"metadata":{"annotations":{"e2e":"1"}}}}}' >/dev/null
  wait_for "compute-0 drained" node_has_reason compute-0 "slurm-k8s: update of the template"
  kubectl patch nodesets.slurm-k8s.io compute --type=json \
    -p '[{"op":"remove","path":"/spec/template/metadata"}]' >/dev/null
  wait_for "compute-0 undrained" node_is_undrained compute-0
  if keeps_reasons; then
    node_has_reason compute-0 "slurm-k8s: back in service" || fail "Reason: $(whole_reason compute-0)"
  else
    assert_equal Reason "" "$(whole_reason compute-0)"
  fi
  end_run compute-0 job
  wait_done "$job" 40
  wait_for "compute-0 drained by slurmctld" is_drained compute-0
  echo "# Reason: $(whole_reason compute-0)"
  stays 8 is_drained compute-0
}
