# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What an administrator sets with sacctmgr, for users who log in by ssh: refusals in Slurm's words, limits that hold
# jobs, preemption and reservations, on pods from zero.
#
# Release: user-limits

# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"
# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"

limits_values() { # PUBLIC-KEY
  cat <<END
sharedHome: {existingClaim: home}
accounting:
  enabled: true
  enforce: [associations, limits, qos, safe]
  mariadb: {resources: {requests: {memory: 64Mi}}}
controller:
  extraConf: |
    PreemptType=preempt/qos
    PreemptMode=REQUEUE
    EnforcePartLimits=ALL
partitions:
  private: {enabled: true, nodesets: [ALL], config: State=UP AllowGroups=physicists}
login:
  enabled: true
  users:
    passwd: "ada:x:2001:2001:Ada:/home/ada:/bin/bash\nbob:x:2002:2002:Bob:/home/bob:/bin/bash\n"
    group: "ada:x:2001:\nbob:x:2002:\nphysicists:x:3000:ada\n"
    authorizedKeys: {ada: "$1", bob: "$1"}
END
}
manage() { slurm sacctmgr --immediate "$@" >/dev/null; }
# What a failed test leaves would be another test's.
end() {
  slurm scancel --user=ada || true
  slurm scancel --user=bob || true
  slurm scontrol delete reservation=hers >/dev/null 2>&1 || true
  manage modify user ada set MaxSubmitJobs=-1 MaxJobs=-1 || true
  manage modify account physics set GrpTRES=node=-1 || true
  manage delete user bob || true
}
begin() {
  needs_slurm 24.05 # login pods need client ids
  trap end EXIT
  if has_login >/dev/null 2>&1; then return; fi
  install_login limits_values ada
  manage add account physics
  manage add account chemistry
  manage add qos short set MaxWall=10 Flags=DenyOnLimit
  manage add qos idle set Priority=1
  manage add qos urgent set Priority=100 Preempt=idle
  manage add user ada account=physics
  manage modify user ada set qos+=short,urgent
}
# What a user is told, and the exit code after it.
told() { # USER COMMAND
  slurm ssh -q -i "$SSH_KEY" -o BatchMode=yes -o UserKnownHostsFile=/tmp/login-test-hosts "$1@slurm-login" \
    "$2 2>&1; echo exit \$?" </dev/null
}
assert_refused() { # WHAT USER COMMAND WORDS
  local answer
  answer=$(told "$2" "$3")
  [[ $answer == *"$4"*"exit 1" ]] || fail "$1: $answer"
}

test_refusals_in_slurms_words() {
  begin
  assert_refused "a user without an association" bob 'sbatch --wrap true' \
    'Invalid account or account/partition combination specified'
  assert_refused "another account" ada 'sbatch -A chemistry --wrap true' \
    'Invalid account or account/partition combination specified'
  assert_refused "a QOS that is not hers" ada 'sbatch --qos=idle --wrap true' 'Invalid qos specification'
  assert_refused "longer than the QOS allows" ada 'sbatch --qos=short --time=11 --wrap true' \
    'Job violates accounting/QOS policy'
  assert_refused "the same of srun" ada 'srun --qos=short --time=11 true' 'Job violates accounting/QOS policy'
  manage modify user ada set MaxSubmitJobs=1
  ssh_as ada 'sbatch --begin=now+1hour --wrap true'
  assert_refused "one job too many" ada 'sbatch --wrap true' 'Job violates accounting/QOS policy'
  ssh_as ada 'scancel --me'
  assert_equal "pods for refused jobs" 0 "$(pod_count)"
  told ada 'sacctmgr -i modify user ada set MaxSubmitJobs=9' >/dev/null
  assert_equal "her limit after she has tried to change it" 1 \
    "$(slurm sacctmgr -nP list assoc where user=ada format=maxsubmit)"
}

# The reason is what the user sees, and the job starts when there is room.
test_limits_hold_a_users_jobs() {
  local first second
  begin
  manage modify user ada set MaxJobs=1
  first=$(ssh_as ada 'sbatch --parsable -n1 -p private --wrap "sleep 300"')
  second=$(ssh_as ada 'sbatch --parsable -n1 --wrap "srun id -un"')
  wait_job "$first" RUNNING 60
  wait_for "the reason" job_has_reason "$second" AssocMaxJobsLimit
  assert_equal "as she sees it" "PENDING AssocMaxJobsLimit" "$(ssh_as ada "squeue -h -j $second -o '%T %r'")"
  ssh_as ada "scancel $first"
  wait_done "$second" 90
  assert_equal "its output" ada "$(ssh_as ada "cat slurm-$second.out")"
  manage modify user ada set MaxJobs=-1
  manage modify account physics set GrpTRES=node=1
  first=$(ssh_as ada 'sbatch --parsable -N1 --exclusive --wrap "sleep 300"')
  wait_job "$first" RUNNING 60
  second=$(ssh_as ada 'sbatch --parsable -N1 --exclusive --wrap true')
  wait_for "the reason" job_has_reason "$second" AssocGrpNodeLimit
  ssh_as ada "scancel $first"
  wait_done "$second" 90
  wait_for 60 "both in her sacct" has_her_states "$first" "$second"
}
has_her_states() { # CANCELLED COMPLETED: the states of two jobs as she sees them
  [[ $(ssh_as ada "sacct -n -X -P -j $1,$2 -o JobID,User,State") == "$1|ada|CANCELLED"*$'\n'"$2|ada|COMPLETED" ]]
}

# The job of the other user gives its nodes up, and runs again.
test_a_users_urgent_job_takes_the_nodes_of_another() {
  local low high
  begin
  manage add user bob account=physics
  manage modify user bob set qos=idle defaultqos=idle
  low=$(ssh_as bob 'sbatch --parsable -N8 --exclusive --requeue \
    --wrap "test -n \"\$SLURM_RESTART_COUNT\" || sleep 600"')
  wait_job "$low" RUNNING 120
  assert_equal "its QOS" idle "$(ssh_as bob "squeue -h -j $low -o %q")"
  high=$(ssh_as ada 'sbatch --parsable -N8 --exclusive --qos=urgent --wrap true')
  wait_done "$high" 120
  wait_done "$low" 240
  assert_equal "restarts of the other" 1 "$(job_field "$low" Restarts)"
}

test_a_partition_and_a_reservation_are_for_their_users() {
  local job
  begin
  manage add user bob account=physics
  slurm scontrol create reservation=hers users=ada nodes=compute-0 starttime=now duration=30 flags=ignore_jobs \
    >/dev/null
  assert_refused "a partition of a group" bob 'sbatch -p private --wrap true' \
    "User's group not permitted to use this partition"
  assert_refused "another user" bob 'sbatch --reservation=hers --wrap true' 'Access denied to requested reservation'
  job=$(ssh_as ada 'sbatch --parsable -n1 --reservation=hers --wrap true')
  wait_done "$job" 90
  assert_equal "its node" compute-0 "$(job_nodes "$job")"
  job=$(ssh_as bob 'sbatch --parsable -n1 -w compute-0 --wrap true')
  wait_for "the reason" has_reason_of_reserved "$job"
  slurm scontrol delete reservation=hers
  wait_done "$job" 90
}
has_reason_of_reserved() { [[ $(job_field "$1" Reason) == *eserv* ]]; }
