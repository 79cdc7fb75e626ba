# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a job finds and leaves in its pod: a login environment for batch jobs that ask for it, and processes that outlive
# their job.

in_pod() { kubectl exec compute-0 -c slurmd -- "$@"; }
# The pod, with a job that must live on, and a profile.
begin() { # LINES of a profile
  slurm srun -N1 -w compute-0 true
  in_pod sh -c 'printf "%s\n" "$1" >/etc/profile.d/e2e.sh' sh "$1"
  POD=$(pod_uid compute-0)
  NEIGHBOUR=$(submit -w compute-0 -n1 --mem=50 --wrap "sleep 600")
  wait_job "$NEIGHBOUR" RUNNING 30
}
neighbour_lives() {
  assert_equal "neighbour" "RUNNING 0" "$(job_state "$NEIGHBOUR") $(job_field "$NEIGHBOUR" Restarts)"
  assert_equal "pod" "$POD" "$(pod_uid compute-0)"
}
# Writes what it has into a file in its pod. sbatch's options follow.
run_for_environment() {
  JOB=$(submit -w compute-0 -n1 --mem=50 "$@" --wrap 'env -0 >/tmp/e2e-env.$SLURM_JOB_ID')
  wait_done "$JOB" 60
}
variable() { in_pod cat "/tmp/e2e-env.$JOB" | sed -zn "s/^$1=//p" | tr -d '\0'; }

PROFILE='echo a greeting; export E2E_PROFILE="two
lines" FOO=profile; PATH=$PATH:/opt/e2e/bin'

check_login() { # WHAT
  assert_equal "$1: HOME" /home/slurm "$(variable HOME)"
  assert_equal "$1: USER, LOGNAME" "slurm slurm" "$(variable USER) $(variable LOGNAME)"
  assert_equal "$1: SHELL" /bin/bash "$(variable SHELL)"
  assert_equal "$1: of a profile" $'two\nlines' "$(variable E2E_PROFILE)"
  neighbour_lives
}

test_a_login_environment_beside_another_job() {
  begin "$PROFILE"
  run_for_environment --export=NONE
  check_login NONE
  [[ $(variable PATH) == */usr/bin:*:/opt/e2e/bin ]] || fail "PATH=$(variable PATH)"
  assert_equal "NONE: FOO" profile "$(variable FOO)"
  assert_equal "NONE: what asks for it" "1 " "$(variable SLURM_GET_USER_ENV) $(variable SLURM_K8S_USER_ENV)"
  run_for_environment --export=FOO=bar
  check_login FOO
  assert_equal "what was passed" bar "$(variable FOO)"
  run_for_environment --get-user-env
  assert_equal "get-user-env: of a profile" $'two\nlines' "$(variable E2E_PROFILE)"
  neighbour_lives
  run_for_environment
  assert_equal "not asked for" "" "$(variable E2E_PROFILE)"
}

test_steps_of_such_a_job() {
  local job
  begin "$PROFILE"
  job=$(submit -w compute-0 -n1 --mem=50 --export=NONE --wrap 'set -e
    srun --export=ALL bash -c "test \"\$HOME,\$FOO\" = /home/slurm,profile"
    srun --export=NONE /bin/bash -c "test \"\${E2E_PROFILE-none}\" = none"')
  wait_done "$job" 60
  neighbour_lives
}

test_a_profile_that_hangs() {
  begin "export E2E_PROFILE=begun; sleep 3600"
  run_for_environment --export=NONE
  assert_equal "basics" "/home/slurm slurm " "$(variable HOME) $(variable USER) $(variable E2E_PROFILE)"
  in_pod pgrep -f 'sleep 3600' && fail "the profile still runs"
  neighbour_lives
}

# Processes that outlive their job.

DETACH='setsid sh -c "sleep $1 </dev/null >/dev/null 2>&1 &"'
runs() { in_pod pgrep -f "^sleep $1\$" >/dev/null; }
is_gone() { ! runs "$1"; }

test_what_outlives_its_job_is_killed() {
  local job
  slurm srun -N1 -w compute-0 true
  # Root's is none of a job's.
  in_pod setsid sh -c 'sleep 7003 </dev/null >/dev/null 2>&1 &'
  job=$(submit -w compute-0 -n1 --mem=50 --wrap "${DETACH/\$1/7001}; sleep 15")
  wait_for "a detached process" runs 7001
  wait_done "$job" 60
  within 10 "no process of the job" is_gone 7001
  runs 7003 || fail "root's process was killed, too"
  # Of a step, in an allocation without a batch script there.
  slurm srun -N1 -w compute-0 sh -c "${DETACH/\$1/7002}"
  within 10 "no process of the step's job" is_gone 7002
}

test_a_user_with_another_job_keeps_processes() {
  local first second
  slurm srun -N1 -w compute-0 true
  POD=$(pod_uid compute-0)
  first=$(submit -w compute-0 -n1 --mem=50 --wrap "${DETACH/\$1/7011}; sleep 600")
  wait_for "a detached process of the first job" runs 7011
  second=$(submit -w compute-0 -n1 --mem=50 --wrap "${DETACH/\$1/7012}; sleep 2")
  wait_done "$second" 30
  stays 3 runs 7011
  assert_equal "first job" RUNNING "$(job_state "$first")"
  slurm scancel "$first"
  # Before SuspendTime, after which the pod goes with all that is in it.
  within 10 "no process of the jobs" is_gone '701[12]'
  assert_equal "pod" "$POD" "$(pod_uid compute-0)"
}

test_an_allocation_between_two_steps_keeps_processes() {
  local job allocation
  slurm srun -N1 -w compute-0 true
  slurm salloc -w compute-0 -n1 --mem=50 sh -c "srun sh -c '${DETACH/\$1/7021}'; sleep 600" >/dev/null 2>&1 &
  wait_for "a detached process of a step" runs 7021
  allocation=$(slurm squeue -h -o %i)
  job=$(submit -w compute-0 -n1 --mem=50 --wrap true)
  wait_done "$job" 30
  stays 3 runs 7021
  slurm scancel "$allocation"
  within 10 "no process of the allocation" is_gone 7021
}
