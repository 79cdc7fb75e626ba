# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scalingMode Always: pods are up all the time. The NodeSet "warm" is none of the chart's.

warm() { # REPLICAS [FIELDS]: makes or changes it
  local slurmd
  slurmd=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "warm", "namespace": "$NAMESPACE"},
 "spec": {"replicas": $1, "slurmd": $slurmd, "scalingMode": "Always" ${2:+, $2}}}
END
}
without_warm() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io warm --ignore-not-found >/dev/null
  wait_for 60 "no node of warm" has_nodes 'compute-[0-7]'
}
has_uids() { # of warm-0 and warm-1
  [[ $(pod_uid warm-0) == "$1" && $(pod_uid warm-1) == "$2" ]]
}
is_new_pod() {
  local uid
  uid=$(pod_uid "$1") && [[ $uid != "$2" ]]
}

test_pods_are_up_and_stay_up() {
  local job first second
  trap without_warm EXIT
  warm 2
  wait_for "warm-[0-1] up" are_up warm-0 warm-1
  is_ready() { [[ $(nodeset_condition warm status) == True ]]; }
  wait_for "condition Ready" is_ready
  first=$(pod_uid warm-0) second=$(pod_uid warm-1)
  stays 25 has_uids "$first" "$second" # SuspendTime is 15 s
  job=$(submit -N2 -w 'warm-[0-1]' --wrap 'srun true')
  wait_done "$job" 20
  has_uids "$first" "$second" || fail "other pods after the job"
  warm 3
  wait_for "warm-2 up" node_is_up warm-2
  stays 20 has_uids "$first" "$second"
}

test_a_pod_that_dies_comes_back() {
  local job uid
  trap without_warm EXIT
  warm 1
  wait_for "warm-0 up" node_is_up warm-0
  # shellcheck disable=SC2016 # the job's own
  job=$(submit -N1 -w warm-0 --wrap 'test "$SLURM_RESTART_COUNT" || sleep 600')
  wait_job "$job" RUNNING 20
  uid=$(pod_uid warm-0)
  kubectl delete pod warm-0 --wait=false --grace-period=1 >/dev/null
  wait_for "another pod" is_new_pod warm-0 "$uid"
  wait_done "$job" 90
  assert_equal "restarts" 1 "$(job_field "$job" Restarts)"
}

test_a_pod_that_can_not_start_is_held_back() {
  local tries
  trap without_warm EXIT
  warm 1 '"template": {"spec": {"containers": [{"name": "slurmd"}], "initContainers":
    [{"name": "wrong", "image": "localhost/is-not-there", "imagePullPolicy": "Never"}]}}'
  power_ups() { kubectl logs slurm-controller-0 -c sidecar --tail=1000 | grep -c 'nodeset warm: power_up' || true; }
  is_held_back() {
    [[ $(kubectl get nodesets.slurm-k8s.io warm -o \
      jsonpath="{.status.conditions[?(@.type=='PowerUpFailing')].status}") == True ]]
  }
  wait_for "condition PowerUpFailing" is_held_back
  at_most() { (($(power_ups) <= $1)); }
  tries=$(power_ups)
  ((tries > 0)) || fail "the sidecar's log has no power-up: nothing to count"
  stays 15 at_most "$((tries + 1))"
  assert_equal "status" PoweringUp "$(nodeset_condition warm reason)"
}

test_scaled_in_and_out_and_on_demand_again() {
  local job
  trap without_warm EXIT
  warm 4
  wait_for "4 nodes up" are_up warm-0 warm-1 warm-2 warm-3
  kubectl scale nodesets.slurm-k8s.io/warm --replicas=1 >/dev/null
  wait_for "their pods are gone" has_pod_count 1
  kubectl scale nodesets.slurm-k8s.io/warm --replicas=3 >/dev/null
  wait_for "the names that came back are up" are_up warm-0 warm-1 warm-2
  job=$(submit -N3 -w 'warm-[0-2]' --wrap 'srun true')
  wait_done "$job" 20
  kubectl patch nodesets.slurm-k8s.io warm --type=merge -p '{"spec":{"scalingMode":"OnDemand"}}' >/dev/null
  wait_for 60 "no pod after SuspendTime" has_pod_count 0
}
