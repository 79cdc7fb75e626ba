# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# B10, as far as the bed's devices go: Slurm gives pods of the bridge their GPUs, and the kubelet the devices.
#
# Release: bridge-gpus

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"
# shellcheck source=tests/e2e/gpus.sh
source "$E2E_FOLDER/gpus.sh"

SCHEDULER=slurm-k8s-bridge-gpus
bridge_values() { values_with_one_user; }

# Node "own" has a GPU in slurmd's pod, and comes first.
put_nodesets() {
  "$BED" device start >/dev/null
  nodeset own 1 '"nvidia.com/gpu": 1' '"extraConf": "Weight=1", "scalingMode": "Always",'
  nodeset shared 1 '' '"extraConf": "Weight=2", "gresType": "a100", "bridgeDevices": {"nvidia.com/gpu": 2},'
  wait_for "Gres of the nodes" have_gres
  wait_for 60 "the node with a GPU of its own" node_is_up own-0
}
have_gres() { has_gres own-0 gpu:1 && has_gres shared-0 gpu:a100:2; }
remove_all() { # NODESET…: further ones
  remove_workloads
  remove own shared "$@"
}
put_gpu_pod() { DEVICES="\"nvidia.com/gpu\": \"$2\"," put_pod "$1" 'sleep 600' "${3:-}"; } # NAME COUNT [METADATA]
gpus_of() { kubectl exec "$1" -- printenv NVIDIA_VISIBLE_DEVICES; } # POD

test_pods_get_gpus() {
  local job
  trap remove_all EXIT
  enable_bridge
  put_nodesets
  put_gpu_pod one 1
  wait_for 90 "the first runs" pod_is one Running
  job=$(pod_job one)
  assert_equal "its node" shared-0 "$(job_nodes "$job")"
  [[ $(slurm scontrol show job "$job" -o) == *gres[/:]gpu:1* ]] || fail "$(slurm scontrol show job "$job" -o)"
  put_gpu_pod two 1 ', "annotations": {"job.slurm-k8s.io/gres": "gpu:a100:1"}'
  wait_for "the second runs" pod_is two Running
  [[ $(gpus_of one) == GPU-???????? && $(gpus_of two) == GPU-???????? && $(gpus_of one) != "$(gpus_of two)" ]] ||
    fail "the kubelet gave $(gpus_of one) and $(gpus_of two)"
  assert_equal "GPUs of the node's pod" "" \
    "$(kubectl exec shared-0 -c slurmd -- bash -c 'compgen -G "/dev/nvidia[0-9]*"' || true)"
  # A GPU of slurmd's own is free, and none of pods.
  put_gpu_pod three 1
  wait_for "the third waits" waits_for three Resources
  kubectl delete pod one >/dev/null
  wait_for 60 "the third runs" pod_is three Running
  kubectl delete pods two three >/dev/null
}

# One job, whose CPUs alone would put both pods on one node.
test_a_gang_goes_where_its_gpus_are() {
  local job nodes
  trap 'remove_all second' EXIT
  enable_bridge
  put_nodesets
  nodeset second 1 '' '"gresType": "a100", "bridgeDevices": {"nvidia.com/gpu": 1},'
  wait_for "Gres of the node" has_gres second-0 gpu:a100:1
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "ranks",
 "annotations": {"job.slurm-k8s.io/exclusive": "true"}},
 "spec": {"completionMode": "Indexed", "completions": 3, "parallelism": 3, "template": {"spec": $(
   DEVICES='"nvidia.com/gpu": "1",' spec_of 'sleep 600')}}}
END
  running() { [[ $(kubectl get pods -l job-name=ranks --field-selector status.phase=Running -o name | wc -l) == 3 ]]; }
  wait_for 120 "all run" running
  job=$(job_of ranks)
  assert_equal "its nodes" "second-0 shared-0" "$(job_nodes "$job" | sort | paste -sd' ')"
  nodes=$(kubectl get pods -l job-name=ranks --sort-by=.metadata.name \
    -o jsonpath='{range .items[*]}{.metadata.annotations.slurm-k8s\.io/rank}{"\n"}{end}' | paste -sd' ')
  assert_equal "ranks" "0 1 2" "$nodes"
  assert_equal "different GPUs" 3 "$(for pod in $(kubectl get pods -l job-name=ranks -o name); do gpus_of "$pod"; done |
    sort -u | wc -l)"
}

test_jobs_of_slurm_get_no_gpus_of_pods() {
  local out
  trap remove_all EXIT
  enable_bridge
  put_nodesets
  assert_equal "without GPUs" shared-0 "$(slurm srun -w shared-0 -n1 --mem=50 bash -c 'echo $SLURMD_NODENAME')"
  ! out=$(slurm srun -w shared-0 -n1 --mem=50 --gres=gpu:1 hostname 2>&1) || fail "a job got a GPU: $out"
  [[ $out == *"GPUs of this node are for Kubernetes pods"* ]] || fail "$out"
  node_is_undrained shared-0 || fail "shared-0 is $(node_state shared-0): $(node_reason shared-0)"
  # More than any node has: refused in Slurm's words.
  put_gpu_pod many 3
  wait_for "the pod says why" waits_for many "Requested node configuration is not available"
}
