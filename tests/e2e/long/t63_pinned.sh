# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# pinToNode: a node's pod goes back to its Kubernetes node. The bed has one with a kubelet: node1.
#
# Alone: test_a_node_waits_for_its_kube_node

pinned() { # makes NodeSet pin
  local slurmd
  slurmd=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "pin", "namespace": "$NAMESPACE"},
 "spec": {"slurmd": $slurmd, "replicas": 2, "pinToNode": true}}
END
}
clean() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl uncordon node1 >/dev/null
  kubectl delete nodesets.slurm-k8s.io pin --ignore-not-found >/dev/null
  wait_for 60 "no node of pin" has_nodes 'compute-[0-7]'
}
pins_are() { [[ $(kubectl get nodesets.slurm-k8s.io pin -o jsonpath='{.status.ordinalToNode}') == "$1" ]]; }
has_reason() { [[ $(node_reason "$1") == "$2"* ]]; }
is_free() { [[ $(node_state "$1") == IDLE*POWERED_DOWN* && $(node_state "$1") != *DRAIN* ]]; }
wanted_kube_node() {
  local required=.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution
  kubectl get pod "$1" -o jsonpath="{$required.nodeSelectorTerms[*].matchFields[0].values[0]}"
}

test_a_node_goes_back_to_its_kube_node() {
  local job
  trap clean EXIT
  pinned
  wait_for "nodes of pin" has_nodes 'compute-[0-7],pin-[0-1]'
  job=$(submit -N1 -w pin-1 --wrap 'true')
  wait_done "$job" 60
  wait_for "pin-1 is pinned" pins_are '{"1":"node1"}'
  assert_equal "the first pod's wish" "" "$(wanted_kube_node pin-1)"
  wait_for 60 "pin-1 free after SuspendTime" is_free pin-1
  pins_are '{"1":"node1"}' || fail "the pin went with the pod"
  job=$(submit -N1 -w pin-1 --wrap "$(runs_until again)")
  wait_job "$job" RUNNING 60
  assert_equal "the next pod's wish" node1 "$(wanted_kube_node pin-1)"
  end_run pin-1 again
  wait_done "$job" 20
}

test_a_node_waits_for_its_kube_node() {
  local job
  trap clean EXIT
  pinned
  wait_for "nodes of pin" has_nodes 'compute-[0-7],pin-[0-1]'
  job=$(submit -N1 -w pin-0 --wrap 'true')
  wait_done "$job" 60
  wait_for "pin-0 is pinned" pins_are '{"0":"node1"}'
  wait_for 60 "pin-0 free after SuspendTime" is_free pin-0
  kubectl cordon node1 >/dev/null
  wait_for "pin-0 drained" has_reason pin-0 "slurm-k8s: kubernetes node node1 is cordoned"
  is_free pin-1 || fail "pin-1, which isn't pinned, is $(node_state pin-1)"
  job=$(submit -N1 -w pin-0 --wrap 'true')
  kubectl uncordon node1 >/dev/null
  wait_done "$job" 90
  kubectl scale nodesets.slurm-k8s.io/pin --replicas=0 >/dev/null
  wait_for 60 "no pin when the node is scaled in" pins_are ''
}
