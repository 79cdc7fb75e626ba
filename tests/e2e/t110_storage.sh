# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Local storage, shared memory and locked memory of nodes, by lines of a NodeSet and of slurm.conf.

put_disk() { # LIMITS [MEMBERS-OF-SLURMD] [MEMBERS-OF-SPEC]
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "disk"}, "spec": {"slurmd": {
 "image": "$image", "resources": {"requests": {"cpu": "50m", "memory": "64Mi"},
 "limits": {"cpu": "1", "memory": "256Mi"$1}}${2:-}}${3:-}}}
JSON
}
remove_disk() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io disk --ignore-not-found >/dev/null
  wait_for 60 "8 node records" has_node_count 8
}
has_tmp_disk() { [[ $(slurm scontrol show node disk-0 -o) =~ TmpDisk=$1( |$) ]]; }
output_of() { kubectl exec disk-0 -c slurmd -- cat "/tmp/$1.out"; } # JOB
run_on_disk() { # COMMAND: what a job prints
  local job
  job=$(slurm sbatch --parsable --output=/tmp/%j.out -w disk-0 --wrap "$1")
  wait_done "$job" 90
  output_of "$job"
}

# The bed's kubelet offers no local storage, so no such pod runs here: tests/vm/t80_local_storage.sh has one.
test_ephemeral_storage_is_tmp_disk() {
  local out
  trap remove_disk EXIT
  put_disk ', "ephemeral-storage": "96Mi"'
  wait_for "TmpDisk of a powered-down node" has_tmp_disk 96
  out=$(slurm sbatch -w disk-0 --tmp=200M --wrap true 2>&1) && fail "accepted: $out"
  [[ $out == *"Requested node configuration is not available"* ]] || fail "$out"
  slurm sbatch --test-only -w disk-0 --tmp=90M --wrap true
  # The record has another one when the node is powered down.
  put_disk ', "ephemeral-storage": "128Mi"'
  wait_for 60 "another TmpDisk" has_tmp_disk 128
}

# As where containerd has a smaller disk than the kubelet: slurmctld would drain the node.
test_a_smaller_file_system_is_told() {
  local job
  trap remove_disk EXIT
  put_disk '' '' ', "extraConf": "TmpDisk=900000000"'
  wait_for "the TmpDisk" has_tmp_disk 900000000
  job=$(submit -w disk-0 --wrap true)
  wait_for 60 "the job is told" is_told "$job" "fatal: TmpDisk=900000000: the file system of /tmp has "
}

test_shared_memory_by_the_template() {
  trap remove_disk EXIT
  put_disk '' ', "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]' \
    ', "template": {"spec": {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "96Mi"}}]}}'
  wait_for "9 node records" has_node_count 9
  assert_equal "size of /dev/shm in a job" 98304 "$(run_on_disk 'df --output=size /dev/shm | tail -n 1 | tr -d " "')"
}

# By default a job has the limits of the shell that submitted it, as on every cluster.
test_locked_memory_is_the_pods() {
  local pods submitted
  submitted="ulimit -l 16 && sbatch --parsable --output=/tmp/%j.out -w disk-0 --wrap 'ulimit -l'"
  limit_of_job() {
    local job
    job=$(slurm bash -c "$submitted")
    wait_done "$job" 90
    output_of "$job"
  }
  trap 'remove_disk; install_release' EXIT
  put_disk ''
  wait_for "9 node records" has_node_count 9
  assert_equal "of the submitter" 16 "$(limit_of_job)"
  pods=$(kubectl exec disk-0 -c slurmd -- bash -c 'ulimit -l')
  [[ $pods != 16 ]] || fail "the pod's limit is the submitter's: the test would tell nothing"
  remove_disk
  install_release --set-string controller.extraConf='PropagateResourceLimitsExcept=MEMLOCK'
  wait_for "the setting" has_setting
  put_disk ''
  wait_for "9 node records" has_node_count 9
  assert_equal "of the pod" "$pods" "$(limit_of_job)"
}
has_setting() { [[ $(setting PropagateResourceLimitsExcept) == MEMLOCK ]]; }
