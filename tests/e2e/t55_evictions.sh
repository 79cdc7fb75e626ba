# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Voluntary evictions, as a drain of a Kubernetes node asks for them: refused while the node is in use, not otherwise.

evict() { # POD: as `kubectl drain` does
  printf '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"%s","namespace":"%s"}}' "$1" "$NAMESPACE" |
    kubectl create --raw "/api/v1/namespaces/$NAMESPACE/pods/$1/eviction" --filename=- 2>&1
}
is_marked() { [[ $(kubectl get pod "$1" -o jsonpath='{.metadata.labels.slurm-k8s\.io/busy}') == true ]]; }
is_unmarked() { kubectl get pod "$1" >/dev/null && ! is_marked "$1"; }
has_state_label() { [[ $(kubectl get pod "$1" -o jsonpath='{.metadata.labels.slurm-k8s\.io/state}') == "$2" ]]; }
annotation() { kubectl get pod "$1" -o jsonpath="{.metadata.annotations.$2}"; }
is_protected() {
  [[ $(kubectl get nodesets.slurm-k8s.io compute \
    -o jsonpath="{.status.conditions[?(@.type=='DisruptionProtected')].status}") == "$1" ]]
}
is_refused() { # POD
  local answer
  if answer=$(evict "$1"); then fail "pod $1 was evicted"; return 1; fi
  [[ $answer == *"disruption budget"* ]] || fail "pod $1: refused otherwise: $answer"
}

test_busy_pods_stay_and_idle_pods_go() {
  local job node uid
  trap install_release EXIT
  install_release --set slurm.suspendTime=120
  wait_for "condition DisruptionProtected" is_protected True
  job=$(submit -N1 --wrap "$(runs_until first)")
  wait_job "$job" RUNNING 60
  node=$(job_nodes "$job")
  uid=$(pod_uid "$node")
  is_marked "$node" || fail "$node isn't marked"
  # Pending pods can be evicted whatever their PodDisruptionBudget says, and kubelet may tell later than slurmd.
  wait_for "Kubernetes knows that it runs" pod_is "$node" Running
  assert_equal safe-to-evict false "$(annotation "$node" 'cluster-autoscaler\.kubernetes\.io/safe-to-evict')"
  assert_equal do-not-disrupt true "$(annotation "$node" 'karpenter\.sh/do-not-disrupt')"
  is_refused "$node"
  end_run "$node" first
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  wait_for "mark of $node taken off" is_unmarked "$node"
  assert_equal safe-to-evict "" "$(annotation "$node" 'cluster-autoscaler\.kubernetes\.io/safe-to-evict')"

  # A node that is up gets another job.
  job=$(submit -N1 -w "$node" --wrap "$(runs_until second)")
  wait_job "$job" RUNNING 30
  wait_for "$node marked again" is_marked "$node"
  is_refused "$node"
  assert_equal "pod of $node" "$uid" "$(pod_uid "$node")"
  end_run "$node" second
  wait_done "$job" 60
  wait_for "mark of $node taken off" is_unmarked "$node"
  evict "$node" >/dev/null || fail "the idle pod $node isn't evicted"
  wait_for 60 "a cluster at zero" is_zero
}

# Where jobs have no memory of their own, slurmctld calls its node idle.
test_a_suspended_job_keeps_its_pod() {
  local job node
  trap install_release EXIT
  install_release --set slurm.selectTypeParameters=CR_Core
  job=$(submit -N1 --wrap "$(runs_until resumed)")
  wait_job "$job" RUNNING 60
  node=$(job_nodes "$job")
  slurm scontrol suspend "$job"
  wait_job "$job" SUSPENDED 10
  wait_for "$node idle" node_has_state "$node" IDLE
  stays 12 is_marked "$node"
  is_refused "$node"
  wait_for "$node told as suspended" has_state_label "$node" suspended
  slurm scontrol resume "$job"
  end_run "$node" resumed
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  wait_for "mark of $node taken off" is_unmarked "$node"
}

test_without_protection_a_busy_pod_can_be_evicted() {
  local job node
  trap 'kubectl patch nodesets.slurm-k8s.io compute --type=merge \
      -p "{\"spec\":{\"workloadDisruptionProtection\":true}}" >/dev/null
    wait_for "the budget" kubectl get poddisruptionbudget compute-busy' EXIT
  kubectl patch nodesets.slurm-k8s.io compute --type=merge -p '{"spec":{"workloadDisruptionProtection":false}}' \
    >/dev/null
  wait_for "condition DisruptionProtected" is_protected False
  if kubectl get poddisruptionbudget compute-busy >/dev/null 2>&1; then fail "the budget is still there"; fi
  job=$(submit -N1 --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  node=$(job_nodes "$job")
  is_unmarked "$node" || fail "$node is marked"
  evict "$node" >/dev/null || fail "$node isn't evicted"
  wait_for 60 "job requeued" is_job_in "$job" "PENDING CONFIGURING"
  slurm scancel "$job"
}
