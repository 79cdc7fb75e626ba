# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The kubelet's static CPU manager: a node has the CPUs that its pod has for itself, and another pod has none of them.
#
# Release: vm_static_cpus

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

cpus_of_job() { # NODE: what a task may use, and what nproc and hwloc say
  slurm srun -w "$1" -n1 sh -c 'grep Cpus_allowed_list /proc/self/status; nproc; hwloc-calc -N pu all' |
    sed 's/.*\t//' | paste -sd ' '
}

test_pods_with_and_without_cpus_of_their_own() {
  trap 'remove_nodeset own; remove_nodeset shared' EXIT
  start_vm --static-cpu-manager
  need_release --set slurm.spank.cpuBind=true
  # The kubelet gives CPUs to pods whose requests are their limits.
  put_nodeset own 1 "$ON_THE_VM" 1 '"cpu":"1","memory":"256Mi"'
  put_nodeset shared 1 "$ON_THE_VM" 1
  assert_equal "the node's CPUs" 1 "$(slurm sinfo -h -n own-0 -o %c)"
  assert_equal "a job in the pod with a CPU of its own" "1 1 1" "$(cpus_of_job own-0)"
  assert_equal "a job in the other pod" "0 1 1" "$(cpus_of_job shared-0)"
  assert_equal "the state of the first" idle "$(slurm sinfo -h -n own-0 -o %T | sed 's/completing/idle/')"
}
