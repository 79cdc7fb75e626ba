# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods tell what Slurm says of their nodes: a label to select them by, and a condition with the reason.

# "idle True Idle": label, condition and the condition's reason; a message follows them.
told() { # POD
  kubectl get pod "$1" -o jsonpath='{.metadata.labels.slurm-k8s\.io/state}'
  kubectl get pod "$1" \
    -o jsonpath='{range .status.conditions[?(@.type=="slurm-k8s.io/InService")]} {.status} {.reason} {.message}{end}'
}
tells() { [[ $(told "$1") == "$2"* ]]; }

test_a_pod_tells_the_state_of_its_node() {
  local job node
  trap install_release EXIT
  install_release --set slurm.suspendTime=120
  job=$(submit -N1 --exclusive --wrap "$(runs_until told)")
  wait_job "$job" RUNNING 60
  node=$(job_nodes "$job")
  # shellcheck disable=SC2064 # this node, now
  trap "slurm scontrol update nodename=$node state=resume 2>/dev/null || true; install_release" EXIT
  wait_for "pod $node tells that its node has a job" tells "$node" "allocated True Allocated"
  # kubelet's own conditions are still there.
  assert_equal Ready True "$(kubectl get pod "$node" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}')"
  slurm scontrol update "nodename=$node" state=drain reason=disk
  wait_for "pod $node tells the drain" tells "$node" "draining False Draining disk"
  end_run "$node" told
  wait_done "$job" 60
  wait_for "pod $node tells that its node is drained" tells "$node" "drained False Drained disk"
  assert_equal "pods by state" "pod/$node" "$(kubectl get pods -l slurm-k8s.io/state=drained -o name)"
  slurm scontrol update "nodename=$node" state=resume
  wait_for "pod $node tells that its node is idle" tells "$node" "idle True Idle"
}
