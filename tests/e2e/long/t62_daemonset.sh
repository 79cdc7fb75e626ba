# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# scalingMode DaemonSet: a Slurm node for each Kubernetes node, whose pod is there. The bed has one Kubernetes node with
# a kubelet, node1; what else there is are objects without one, marked as ready, on which a pod is bound but never
# starts.
#
# Alone: test_kube_nodes_come_and_go test_a_cordoned_kube_node_has_no_node test_a_name_that_is_too_long_is_told

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

# shellcheck disable=SC2034 # that of bridge.sh
SCHEDULER=slurm-k8s-bridge-daemonset # bridges with one name would answer each other's pods

daemon_set() { # [TEMPLATE-SPEC]: makes or changes NodeSet ds
  local slurmd
  slurmd=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "ds", "namespace": "$NAMESPACE"},
 "spec": {"slurmd": $slurmd, "scalingMode": "DaemonSet", "template": {"spec": ${1:-null}}}}
END
}
add_kube_node() { # NAME: a Kubernetes node that takes pods, and never runs them
  kubectl create -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "$1", "labels": {"e2e": "fake"}}, "spec": {}}
END
  local size='{"cpu": "64", "memory": "256Gi", "pods": "100"}'
  kubectl patch node "$1" --subresource=status --type=merge -p '{"status": {
    "allocatable": '"$size"', "capacity": '"$size"',
    "conditions": [{"type": "Ready", "status": "True", "reason": "E2e", "message": "",
                    "lastHeartbeatTime": "'"$(date -u +%FT%TZ)"'"}]}}' >/dev/null
}
clean() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl uncordon node1 >/dev/null
  kubectl label node node1 e2e- >/dev/null
  kubectl delete node -l e2e=fake --ignore-not-found >/dev/null
  kubectl delete nodesets.slurm-k8s.io ds --ignore-not-found >/dev/null
  kubectl delete pods -l slurm-k8s.io/nodeset=ds --force --grace-period=0 >/dev/null 2>&1 || true
  wait_for 60 "no node of ds" has_nodes 'compute-[0-7]'
}
has_node() { slurm scontrol show node "$1" >/dev/null 2>&1; }
has_no_node() { ! has_node "$1"; }
kube_node_of() { kubectl get pod "$1" -o jsonpath='{.spec.nodeName}'; }
is_on() { [[ $(kube_node_of "$1") == "$2" ]]; }
has_status() { # FIELD VALUE
  [[ $(kubectl get nodesets.slurm-k8s.io ds -o jsonpath="{.status.$1}") == "$2" ]]
}

test_a_node_for_each_kube_node() {
  local job uid
  trap clean EXIT
  daemon_set
  wait_for "ds-node1 up" node_is_up ds-node1
  assert_equal "Kubernetes node" node1 "$(kube_node_of ds-node1)"
  wait_for "condition Ready" has_status 'conditions[?(@.type=="Ready")].reason' NodesMatch
  assert_equal "desired" 1 "$(kubectl get nodesets.slurm-k8s.io ds -o jsonpath='{.status.desired}')"
  job=$(submit -N1 -w ds-node1 --wrap 'srun true')
  wait_done "$job" 20
  # It is up all the time, and comes back when its pod dies.
  uid=$(pod_uid ds-node1)
  kubectl delete pod ds-node1 --wait=false --grace-period=1 >/dev/null
  is_new() {
    local now
    now=$(pod_uid ds-node1) && [[ $now != "$uid" ]] && node_is_up ds-node1
  }
  wait_for 60 "up again with another pod" is_new
}

# Slurm's node is of that Kubernetes node alone.
test_a_pod_of_the_bridge() {
  local job
  trap 'remove_workloads; clean; install_release' EXIT # without a bridge
  daemon_set
  wait_for "ds-node1 up" node_is_up ds-node1
  enable_bridge
  put_pod chosen 'sleep 600' ', "annotations": {"job.slurm-k8s.io/constraints": "ds"}' \
    '"nodeSelector": {"kubernetes.io/hostname": "node1"},'
  wait_for 60 "the pod runs" pod_is chosen Running
  job=$(pod_job chosen)
  assert_equal "Slurm's node" ds-node1 "$(job_nodes "$job")"
  kubectl delete pod chosen --wait=false >/dev/null
  wait_job "$job" CANCELLED 40
}

test_kube_nodes_come_and_go() {
  local start
  trap clean EXIT
  add_kube_node early
  daemon_set
  wait_for "ds-node1 up" node_is_up ds-node1
  has_node ds-early || fail "no node of a Kubernetes node that was there from the start"
  add_kube_node fake.e2e.example
  wait_for "its node" has_node ds-fake--e2e--example
  wait_for "its pod is there" is_on ds-fake--e2e--example fake.e2e.example
  kubectl delete node fake.e2e.example >/dev/null
  start=$(now_ms)
  wait_for 60 "its node is gone" has_no_node ds-fake--e2e--example
  echo "# gone $(($(now_ms) - start)) ms after its Kubernetes node; ResumeTimeout is 90 s"
  node_is_up ds-node1 || fail "ds-node1 is $(node_state ds-node1)"
}

test_follows_labels_and_lets_jobs_end() {
  local job
  trap clean EXIT
  kubectl label node node1 e2e=yes >/dev/null
  daemon_set '{"nodeSelector": {"e2e": "yes"}}'
  wait_for "ds-node1 up" node_is_up ds-node1
  job=$(submit -N1 -w ds-node1 --wrap "$(runs_until job)")
  wait_job "$job" RUNNING 20
  kubectl label node node1 e2e- >/dev/null
  wait_for "ds-node1 drained" node_has_state ds-node1 DRAIN
  assert_equal "reason" "slurm-k8s: scale-in" "$(node_reason ds-node1)"
  assert_equal "job" RUNNING "$(job_state "$job")"
  end_run ds-node1 job
  wait_done "$job" 30
  wait_for "its node is gone" has_no_node ds-node1
  wait_for "and its pod" has_pod_count 0
  kubectl label node node1 e2e=yes >/dev/null
  wait_for "ds-node1 up again" node_is_up ds-node1
}

test_a_cordoned_kube_node_has_no_node() {
  trap clean EXIT
  daemon_set
  wait_for "ds-node1 up" node_is_up ds-node1
  kubectl cordon node1 >/dev/null
  wait_for "its node is gone" has_no_node ds-node1
  wait_for "none desired" has_status desired 0
  kubectl uncordon node1 >/dev/null
  wait_for "ds-node1 up again" node_is_up ds-node1
}

test_a_name_that_is_too_long_is_told() {
  trap clean EXIT
  add_kube_node "m.$(printf 'x%.0s' {1..60}).example"
  daemon_set
  wait_for "ds-node1 up" node_is_up ds-node1
  wait_for "condition Ready" has_status 'conditions[?(@.type=="Ready")].reason' NameTooLong
}
