# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job that fills its pod's memory before anybody can end it: what the kernel kills, with both kinds of kubelet.
#
# Release: vm_kernel

# shellcheck source=tests/vm/lib.sh
source "$E2E_FOLDER/../vm/lib.sh"

# slurmstepd would be faster than an emulated task.
prepare() { # KUBELET-OPTION…
  start_vm "$@"
  need_release --set slurm.spank.memoryLimit=false
  put_nodeset vm 1 "$ON_THE_VM"
}
is_held() { [[ $(job_state "$1") == PENDING && $(job_field "$1" Reason) == JobHeldUser ]]; }

# With memory.oom.group everything in the container is killed.
test_a_default_kubelet_a_job_alone() {
  local job
  trap 'remove_nodeset vm' EXIT
  prepare
  job=$(submit --requeue -w vm-0 --wrap "$(eat 400)")
  wait_job "$job" OUT_OF_MEMORY 300
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  is_told "$job" "vm-0: pod ended: OOMKilled" || fail "AdminComment: $(admin_comment "$job")"
  wait_done "$(submit -w vm-0 --wrap true)" 300
}

test_a_default_kubelet_two_jobs() {
  local neighbour job
  trap 'remove_nodeset vm' EXIT
  prepare
  neighbour=$(submit --requeue -w vm-0 -n1 --mem=40 --wrap "$(runs_until held)")
  wait_job "$neighbour" RUNNING 300
  sleep 5 # it has run longer than the other one
  job=$(submit --requeue -w vm-0 -n1 --mem=40 --wrap "$(eat 400)")
  wait_for 120 "the neighbour is told" is_told "$neighbour" "vm-0: pod ended: OOMKilled"
  wait_for 400 "job $job held" is_held "$job"
  is_told "$job" "job held: slurmd ended 2 times while it ran: pod ended: OOMKilled" ||
    fail "AdminComment: $(admin_comment "$job")"
  wait_job "$neighbour" RUNNING 400
  end_run vm-0 held
  wait_done "$neighbour" 60
  assert_equal "restarts of both" "2 2" "$(job_field "$job" Restarts) $(job_field "$neighbour" Restarts)"
}

# By oom_score_adj: the task.
test_a_kubelet_with_single_process_oom_kill() {
  local neighbour job uid
  trap 'remove_nodeset vm' EXIT
  prepare --single-process-oom-kill
  neighbour=$(submit --requeue -w vm-0 -n1 --mem=40 --wrap 'sleep 600')
  wait_job "$neighbour" RUNNING 300
  assert_equal "memory.oom.group" 0 "$(in_pod vm-0 cat /sys/fs/cgroup/memory.oom.group)"
  uid=$(pod_uid vm-0)
  job=$(submit --requeue -w vm-0 -n1 --mem=40 --wrap "$(eat 400)")
  wait_job "$job" "FAILED OUT_OF_MEMORY" 120
  echo "# job $job: $(job_state "$job") $(job_field "$job" ExitCode)"
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  is_job_in "$neighbour" RUNNING || fail "its neighbour is $(job_state "$neighbour")"
  assert_equal "uid of the pod, restarts" "$uid 0" "$(pod_uid vm-0) $(restarts_of_slurmd vm-0)"
  slurm srun -w vm-0 -n1 --mem=10 true
}
