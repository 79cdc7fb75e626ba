# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# cgroup version 2: what slurmd and jobs find there, and that a job over its own memory ends alone.
#
# Release: vm

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

test_what_slurmd_sees() {
  trap 'remove_nodeset vm' EXIT
  start_vm
  need_release
  put_nodeset vm 1 "$ON_THE_VM" 1
  wait_done "$(submit -w vm-0 --wrap true)" 300
  assert_equal "Kubernetes node" "$VM" "$(machine_of vm-0)"
  assert_equal "file system of cgroups" cgroup2fs "$(in_pod vm-0 stat -f -c %T /sys/fs/cgroup)"
  # The pod's limits in the node's record and in the cgroup that a job can read.
  assert_equal "CPUs, memory of the node" "1 192" "$(slurm sinfo -h -N -n vm-0 -o '%c %m')"
  assert_equal "memory.max" $((256 << 20)) "$(slurm srun -w vm-0 cat /sys/fs/cgroup/memory.max)"
  assert_equal "cpu.max" "100000 100000" "$(slurm srun -w vm-0 cat /sys/fs/cgroup/cpu.max)"
  # Why the pod can't change what dies when its memory is used up.
  assert_equal "memory.oom.group" 1 "$(in_pod vm-0 cat /sys/fs/cgroup/memory.oom.group)"
  ! in_pod vm-0 sh -c 'echo 0 >/sys/fs/cgroup/memory.oom.group' 2>/dev/null || fail "memory.oom.group can be written"
  assert_equal "oom_score_adj of a task" 1000 "$(slurm srun -w vm-0 cat /proc/self/oom_score_adj)"
}

has_ended() { [[ $(job_state "$1") == OUT_OF_MEMORY ]]; }

test_a_job_over_its_memory_ends_alone() {
  local neighbour job uid
  trap 'remove_nodeset vm' EXIT
  start_vm
  need_release
  put_nodeset vm 1 "$ON_THE_VM"
  neighbour=$(submit -w vm-0 -n1 --mem=40 --wrap "sleep 600")
  wait_job "$neighbour" RUNNING 300
  uid=$(pod_uid vm-0)
  job=$(submit --requeue -w vm-0 -n1 --mem=60 --wrap "$(eat 100)")
  wait_job "$job" OUT_OF_MEMORY 120
  assert_equal "job" "OutOfMemory 0 0:125" \
    "$(job_field "$job" Reason) $(job_field "$job" Restarts) $(job_field "$job" ExitCode)"
  stays 3 has_ended "$job"
  is_job_in "$neighbour" RUNNING || fail "its neighbour is $(job_state "$neighbour")"
  assert_equal "uid of the pod, restarts" "$uid 0" "$(pod_uid vm-0) $(restarts_of_slurmd vm-0)"
}
