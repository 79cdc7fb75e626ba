# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# R6: nodes of the bridge alone: Slurm's external nodes, which have no slurmd and no pod.
#
# Release: external-nodes

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

SCHEDULER=slurm-k8s-bridge-external
bridge_values() {
  values_with_one_user 'partition: ex'
  cat <<END
nodesets:
  ex:
    scalingMode: External
    partition: {enabled: true}
    slurmd: {resources: {limits: {cpu: "2", memory: 1Gi}}}
    podSpec: {nodeSelector: {kubernetes.io/hostname: node1}}
END
}

condition_is() { [[ $(nodeset_condition ex reason) == "$1" ]]; }
is_external() { [[ $(node_state ex-node1) == IDLE+*EXTERNAL* && $(node_state ex-node1) != *POWER* ]]; }
place_on() { # HOSTNAME
  kubectl patch nodesets.slurm-k8s.io ex --type=merge \
    -p '{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/hostname":"'"$1"'"}}}}}' >/dev/null
}
# It is never powered down: a cluster with it is not at zero.
leave() {
  remove_workloads
  place_on elsewhere
  wait_for 60 "no external node" has_no_external_node
}
enter() {
  trap leave EXIT
  enable_bridge
  place_on node1
  wait_for 60 "its record" is_external
}
has_no_external_node() { ! slurm scontrol show node ex-node1; }

test_an_older_slurm_has_no_external_nodes() {
  needs_slurm_before 26.05
  enable_bridge
  wait_for "the condition" condition_is ExternalNodesUnknown
  assert_equal "its message" "spec.scalingMode: External: Slurm is older than 26.05" "$(nodeset_condition ex message)"
  has_no_external_node 2>/dev/null || fail "there is a node: $(node_state ex-node1)"
}

test_pods_run_on_external_nodes() {
  local first said
  needs_slurm 26.05
  enter
  put_pod one 'sleep 600'
  wait_for 60 "the first runs" pod_is one Running
  first=$(pod_job one)
  assert_equal "its node, its Kubernetes node" "ex-node1 node1" \
    "$(job_nodes "$first") $(pod_field one .spec.nodeName)"
  assert_equal "pods of slurmd" 0 "$(pod_count)"
  put_pod two 'exit 3'
  wait_for 60 "the second has ended" pod_is two Failed
  wait_job "$(pod_job two)" FAILED 30
  assert_equal "its exit code" 3:0 "$(job_field "$(pod_job two)" ExitCode)"

  ! said=$(submit -p ex -n1 --wrap true 2>&1) || fail "a job of Slurm's own was taken: $said"
  [[ $said == *"Requested node configuration is not available"* ]] || fail "a job of Slurm's own: $said"
  put_pod three 'sleep 600'
  wait_for 60 "the third runs" pod_is three Running
  put_pod four 'sleep 600'
  wait_for "the fourth waits for a CPU" waits_for four Resources
  slurm scancel "$first"
  wait_for 60 "the first is gone with its job" is_gone one
  wait_for 60 "the fourth runs" pod_is four Running
}

# A node without a slurmd must not become "not responding", nor be powered down for being idle.
test_external_nodes_stay() {
  needs_slurm 26.05
  enter
  stays 40 is_external # SuspendTime is 15 s
  put_pod one 'sleep 600'
  wait_for 60 "a pod runs" pod_is one Running
  slurm scontrol reconfigure
  kubectl delete pod "$CONTROLLER" >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  pod_is one Running || fail "the pod is $(pod_field one .status.phase)"
  is_job_in "$(pod_job one)" RUNNING || fail "its job is $(job_state "$(pod_job one)")"
  put_pod two true
  wait_for 60 "another one has run" pod_is two Succeeded
  wait_job "$(pod_job two)" COMPLETED 30

  # Its Kubernetes node is no longer one of the NodeSet's.
  place_on elsewhere
  wait_for "drained while a pod runs" node_has_state ex-node1 DRAIN
  pod_is one Running || fail "the pod is $(pod_field one .status.phase)"
  kubectl delete pod one >/dev/null
  wait_for 60 "no node" has_no_external_node
  place_on node1
  wait_for 60 "its record" is_external
  put_pod three true
  wait_for 90 "a pod has run there" pod_is three Succeeded
}
