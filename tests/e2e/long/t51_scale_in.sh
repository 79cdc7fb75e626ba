# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Which nodes go when a NodeSet shrinks, and that no job notices.

run_step() { submit "$@" --wrap "srun bash -c '$(runs_until step)'"; } # OPTIONS
end_steps() { # NODE…
  local node
  for node; do end_run "$node" step; done
}
is_leaving() { # NODE: or has gone
  local state
  state=$(node_state "$1") || true
  [[ -z $state || $state == *@(POWERING|POWERED)_DOWN* ]]
}
back_to_8() { # whatever a test has left behind
  slurm scancel --me >/dev/null 2>&1 || true
  scale 0
  wait_for 90 "no node records" has_node_count 0
  scale 8
  wait_for "8 node records" has_node_count 8
}

test_busy_nodes_are_drained_and_go_last() {
  local job
  trap back_to_8 EXIT
  job=$(run_step -N2 -w 'compute-[2,5]')
  wait_job "$job" RUNNING 60
  scale 2
  wait_for "only the busy nodes are left" has_nodes 'compute-[2,5]'
  scale 1
  wait_for "compute-5 draining" node_has_state compute-5 DRAIN
  assert_equal "reason" "slurm-k8s: scale-in" "$(node_reason compute-5)"
  if node_has_state compute-2 DRAIN; then fail "compute-2 is drained, too"; fi
  end_steps compute-2 compute-5
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  wait_for "compute-5 is gone" has_nodes compute-2
}

test_scaling_out_again_undrains() {
  local job node
  trap back_to_8 EXIT
  job=$(run_step -N2 -w 'compute-[0-1]')
  wait_job "$job" RUNNING 60
  scale 0
  wait_for "both draining" node_has_state compute-1 DRAIN
  scale 3
  wait_for "compute-2 is made" has_nodes 'compute-[0-2]'
  for node in compute-0 compute-1; do
    if node_has_state "$node" DRAIN; then fail "$node is $(node_state "$node")"; fi
  done
  end_steps compute-0 compute-1
  wait_done "$job" 60
}

test_deletion_cost_then_ordinal() {
  local job
  trap 'back_to_8; install_release' EXIT
  install_release --set slurm.suspendTime=300 # idle nodes stay up
  scale 4
  wait_for "4 node records" has_node_count 4
  job=$(submit -N4 --wrap true)
  wait_done "$job" 60
  kubectl annotate pod compute-0 controller.kubernetes.io/pod-deletion-cost=-1 >/dev/null
  kubectl annotate pod compute-3 controller.kubernetes.io/pod-deletion-cost=10 >/dev/null
  scale 2
  wait_for "the cheap one and the highest of the others are gone" has_nodes 'compute-[1,3]'
}

test_an_administrators_drain_stays() {
  trap 'slurm scontrol update nodename=compute-1 state=undrain || true; back_to_8; install_release' EXIT
  install_release --set slurm.suspendTime=300 # idle nodes stay up
  slurm scontrol update nodename='compute-[0-1]' state=power_up
  wait_for "compute-0 up" node_is_up compute-0
  wait_for "compute-1 up" node_is_up compute-1
  scale 2
  wait_for "2 node records" has_nodes 'compute-[0-1]'
  slurm scontrol update nodename=compute-1 state=drain reason=disk
  scale 3
  wait_for "3 node records" has_node_count 3
  assert_equal "reason" disk "$(node_reason compute-1)"
  node_has_state compute-1 DRAIN || fail "compute-1 was undrained"
  scale 1
  wait_for "the drained node goes before the one that can be used" has_nodes compute-0
}

test_a_name_comes_back_usable() {
  local job
  trap back_to_8 EXIT
  job=$(submit -N2 -w 'compute-[0-1]' --wrap true)
  wait_done "$job" 60
  scale 0
  wait_for "compute-1 on its way out" is_leaving compute-1
  scale 8
  job=$(submit -N8 --wrap 'srun true')
  wait_done "$job" 60
}

# An autoscaler needs the scale subresource alone: here it enforces its bounds, which takes no metrics.
test_a_horizontal_pod_autoscaler_scales() {
  trap 'kubectl delete hpa compute >/dev/null; back_to_8' EXIT
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
 "metadata": {"name": "compute", "namespace": "$NAMESPACE"},
 "spec": {"scaleTargetRef": {"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "name": "compute"},
  "minReplicas": 10, "maxReplicas": 12}}
END
  wait_for 60 "10 node records, its least" has_node_count 10
  scale 16
  wait_for 60 "12 node records, its most" has_node_count 12
}
