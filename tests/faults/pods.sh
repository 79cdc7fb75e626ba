# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods are evicted, preempted or run out of memory under their jobs, and their Kubernetes node goes away.
#
# Alone: test_preempted_by_a_pod_of_higher_priority test_kubernetes_node_not_ready test_kubernetes_node_lost
# Release: unprotected

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

# What t55_evictions shows not to happen with it.
unprotect() {
  kubectl patch nodesets.slurm-k8s.io compute --type=merge --patch '{"spec": {"workloadDisruptionProtection": false}}' \
    >/dev/null
  has_no_budget() { [[ -z $(kubectl get poddisruptionbudgets -o name) ]]; }
  wait_for "no disruption budget" has_no_budget
}
unprotect

# The reasons that a node has had since the test began, as slurmctld logged them.
BEGUN=$(date --utc +%FT%TZ)
was_said() { kubectl logs "$CONTROLLER" -c slurmctld --since-time="$BEGUN" | grep -c "$1" >/dev/null; }

test_evicted_and_out_of_memory() {
  local evicted failed hungry since
  evicted=$(unique evicted)
  start_job "$evicted" "BEATS=0" -N2 -w 'compute-[0-1]' --exclusive >/dev/null
  failed=$(unique pressure)
  start_job "$failed" "BEATS=0" -N2 -w 'compute-[2-3]' --exclusive >/dev/null
  wait_for 60 "both jobs running" has_beaten "$evicted" 1
  wait_for 60 "both jobs running" has_beaten "$failed" 1

  # As `kubectl drain` does it.
  kubectl create --raw "/api/v1/namespaces/$NAMESPACE/pods/compute-1/eviction" --filename - >/dev/null <<END
{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "compute-1", "namespace": "$NAMESPACE"}}
END
  # As a kubelet under pressure does it.
  kubectl patch pod compute-3 --subresource=status --type=merge \
    --patch '{"status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}}' \
    >/dev/null
  # It fills its pod's memory; slurmd is the largest process. Such a job ends.
  hungry=$(submit -N1 -w compute-4 --exclusive --wrap "head -c 2G /dev/zero >/scratch/fill; sleep 60")
  wait_for 60 "compute-4: OOMKilled in the log" was_said 'compute-4.*OOMKilled'
  wait_job "$hungry" OUT_OF_MEMORY 30
  assert_equal "restarts" 0 "$(job_field "$hungry" Restarts)"
  since=$(now_ms)
  stop_job "$evicted"
  stop_job "$failed"
  settle "$since" 180 --restarts 1 "$evicted" "$failed"
  was_said 'compute-3.*Evicted' || fail "compute-3: Evicted is not in the log"
}

# Thousandths of a processor that the pods on node1 request, but for those of our nodes.
others_request() {
  kubectl get pods --all-namespaces --field-selector spec.nodeName=node1 -l '!slurm-k8s.io/node' \
    -o jsonpath='{range .items[*].spec.containers[*]}{.resources.requests.cpu}{"\n"}{end}' |
    awk "$MILLIS"' {sum += millis($1)} END {print sum + 0}'
}
allocatable() { kubectl get node node1 -o jsonpath='{.status.allocatable.cpu}' | awk "$MILLIS"' {print millis($1)}'; }
# shellcheck disable=SC2016 # awk's own
MILLIS='function millis(text) {return text ~ /m$/ ? text + 0 : text * 1000}'

test_preempted_by_a_pod_of_higher_priority() {
  local preempted image since
  preempted=$(unique preempted)
  start_job "$preempted" "BEATS=0" -N4 --exclusive >/dev/null
  wait_for 60 "a running job" has_beaten "$preempted" 1
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  trap 'kubectl delete pod e2e-urgent --ignore-not-found >/dev/null
    kubectl delete priorityclass e2e-urgent --ignore-not-found >/dev/null' EXIT
  # It leaves room for less than one node of the job.
  kubectl create -f - >/dev/null <<END
{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "e2e-urgent"}, "value": 1000},
  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "e2e-urgent", "namespace": "$NAMESPACE"}, "spec": {
    "priorityClassName": "e2e-urgent", "terminationGracePeriodSeconds": 0, "containers": [
      {"name": "urgent", "image": "$image", "imagePullPolicy": "IfNotPresent", "command": ["sleep", "300"],
       "resources": {"requests": {"cpu": "$(($(allocatable) - $(others_request) - 10))m"}}}]}}]}
END
  wait_for 60 "the urgent pod running" pod_is e2e-urgent Running
  requeued() { ctld squeue --noheader --name="$preempted" --format=%t | grep -cE 'PD|CF' >/dev/null; }
  wait_for 60 "the job requeued" requeued
  kubectl delete pod e2e-urgent >/dev/null
  since=$(now_ms)
  stop_job "$preempted"
  settle "$since" 240 --restarts 1 "$preempted"
}

test_kubernetes_node_not_ready() {
  local running waiting since
  running=$(unique running)
  start_job "$running" "BEATS=0" -N4 --exclusive >/dev/null
  wait_for 60 "a running job" has_beaten "$running" 1
  "$BED" fault stop kubelet
  continue_kubelet() { "$BED" fault start kubelet 2>/dev/null; }
  trap continue_kubelet EXIT
  waiting=$(unique waiting)
  start_waiting() {
    ctld sbatch --parsable --output=/dev/null --job-name="$waiting" -N2 --exclusive \
      --wrap "BEATS=2 exec bash /ledger/job.sh" >/dev/null
  }
  start_waiting
  node_is_not_ready() {
    [[ $(kubectl get node node1 -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}') == Unknown ]]
  }
  wait_for 90 "node1 NotReady" node_is_not_ready
  drained_nodes() {
    ctld sinfo --noheader --Node --format='%T %E' | grep -cE '^drain.* kubernetes node node1 is not ready'
  }
  all_drained() { (($(drained_nodes) >= 4)); }
  none_drained() { (($(drained_nodes) == 0)); }
  wait_for "the job's nodes drained" all_drained
  continue_kubelet
  wait_for 60 "no node drained for it any more" none_drained
  since=$(now_ms)
  stop_job "$running"
  settle "$since" 240 --restarts 1 "$running" "$waiting"
  # A node that is not ready still runs its jobs.
  assert_equal "runs of the job that was running" 1 "$(grep -c ' start' "$LEDGER/$running")"
}

# What remains of a Kubernetes node that is gone for good: its pods are removed without anybody having ended them.
test_kubernetes_node_lost() {
  local lost since
  lost=$(unique lost)
  start_job "$lost" "BEATS=0" -N4 --exclusive >/dev/null
  wait_for 60 "a running job" has_beaten "$lost" 1
  "$BED" fault stop kubelet
  trap '"$BED" fault start kubelet 2>/dev/null' EXIT
  kubectl delete pods -l slurm-k8s.io/node --force --grace-period=0 >/dev/null 2>&1
  requeued() { ctld squeue --noheader --name="$lost" --format=%t | grep -cE 'PD|CF' >/dev/null; }
  wait_for 60 "the job requeued" requeued
  "$BED" fault start kubelet 2>/dev/null
  since=$(now_ms)
  has_run_again() { (($(grep -c " start" "$LEDGER/$lost") >= 2)); }
  wait_for 180 "the job runs again" has_run_again
  stop_job "$lost"
  settle "$since" 240 --restarts 1 "$lost"
}
