# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What happens to a Kubernetes node happens to the Slurm nodes whose pods are on it, and no job pays for it.
#
# Alone: test_cordoned_and_back test_cordoned_for_good test_tainted

uncordon() { kubectl uncordon node1 >/dev/null; }
untaint() { kubectl taint nodes node1 e2e:NoSchedule- >/dev/null 2>&1 || true; }

test_cordoned_and_back() {
  local job
  trap uncordon EXIT
  job=$(submit -N1 -w compute-0 --wrap "$(runs_until cordoned)")
  wait_job "$job" RUNNING 60
  kubectl cordon node1 >/dev/null
  wait_for "compute-0 drained" node_has_reason compute-0 "slurm-k8s: kubernetes node node1 is cordoned"
  assert_equal "job" RUNNING "$(job_state "$job")"
  uncordon
  wait_for "compute-0 undrained" node_is_undrained compute-0
  end_run compute-0 cordoned
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
}

# Long before SuspendTime: the node is free to serve on another Kubernetes node.
test_cordoned_for_good() {
  local busy idle start
  trap 'uncordon; install_release' EXIT
  install_release --set slurm.suspendTime=300
  idle=$(submit -N1 -w compute-1 --wrap true)
  wait_done "$idle" 60
  busy=$(submit -N1 -w compute-0 --wrap "$(runs_until busy)")
  wait_job "$busy" RUNNING 60
  start=$(now_ms)
  kubectl cordon node1 >/dev/null
  wait_for "compute-1's pod is gone" has_pod_count 1
  end_run compute-0 busy
  wait_done "$busy" 60
  wait_for "compute-0's pod is gone" has_pod_count 0
  wait_for "both serve again" all_idle_and_down
  echo "# $(($(now_ms) - start)) ms from the cordon to the end"
}

test_tainted() {
  local job
  trap untaint EXIT
  job=$(submit -N1 -w compute-0 --wrap "$(runs_until tainted)")
  wait_job "$job" RUNNING 60
  kubectl taint nodes node1 e2e=gone:NoSchedule >/dev/null
  wait_for "compute-0 drained" node_has_reason compute-0 "slurm-k8s: kubernetes node node1 has the taint e2e"
  untaint
  wait_for "compute-0 undrained" node_is_undrained compute-0
  end_run compute-0 tainted
  wait_done "$job" 60
}

test_condition_says_that_nodes_are_watched() {
  # A sidecar that has just begun says that its first list is under way.
  is_watched() {
    [[ $(kubectl get nodesets.slurm-k8s.io compute \
      -o jsonpath='{range .status.conditions[?(@.type=="KubernetesNodesWatched")]}{.status} {.reason}{end}') == \
      "True Watched" ]]
  }
  wait_for "condition KubernetesNodesWatched: True, Watched" is_watched
}

test_extra_says_where_a_node_is() {
  local job
  job=$(submit -N1 -w compute-0 --wrap "$(runs_until seen)")
  wait_job "$job" RUNNING 60
  extra() { slurm scontrol show node compute-0 | sed -n 's/^ *Extra=//p'; }
  says_where() { [[ $(extra) == '{"namespace":"'"$NAMESPACE"'","pod":"compute-0","kubernetesNode":"node1"}' ]]; }
  wait_for "where compute-0 is" says_where || fail "Extra: $(extra)"
  end_run compute-0 seen
  wait_done "$job" 60
}
