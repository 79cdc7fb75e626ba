# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The kubelet's static CPU manager: a node has the CPUs that its pod has for itself, and another pod has none of them.
#
# Release: vm_static_cpus

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

# put NAME REQUEST LIMIT: one node. The kubelet gives CPUs to pods whose requests are their limits.
put() {
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply --filename=- >/dev/null <<JSON
{"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","metadata":{"name":"$1"},"spec":{"replicas":1,
 "slurmd":{"image":"$image",
  "resources":{"requests":{"cpu":"$2","memory":"256Mi"},"limits":{"cpu":"$3","memory":"256Mi"}}},
 "template":{"spec":$ON_THE_VM}}}
JSON
  wait_for 30 "nodes of $1" has_nodes_of "$1" 1
}
cpus_of_job() { # NODE SRUN-OPTION…: what a task may use, and what nproc and hwloc say
  slurm srun -w "$1" -n1 "${@:2}" sh -c 'grep Cpus_allowed_list /proc/self/status; nproc; hwloc-calc -N pu all' |
    sed 's/.*\t//' | paste -sd ' '
}

test_pods_with_and_without_cpus_of_their_own() {
  trap 'remove_nodeset own; remove_nodeset shared' EXIT
  start_vm --static-cpu-manager
  need_release --set slurm.spank.cpuBind=true
  put own 1 1
  put shared 50m 1
  assert_equal "the node's CPUs" 1 "$(slurm sinfo -h -n own-0 -o %c)"
  assert_equal "a job in the pod with a CPU of its own" "1 1 1" "$(cpus_of_job own-0)"
  assert_equal "a job in the other pod" "0 1 1" "$(cpus_of_job shared-0)"
  assert_equal "the state of the first" idle "$(slurm sinfo -h -n own-0 -o %T | sed 's/completing/idle/')"
}
