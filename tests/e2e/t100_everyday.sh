# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What users of Slurm do every day, from a login pod and from zero pods: arrays, dependencies, reservations, licences,
# preemption, interactive jobs, tasks by the hundred, sbcast, sattach, scrontab, and what is refused in words.
#
# Release: everyday

# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"

everyday_values() { # PUBLIC-KEY
  cat <<END
sharedHome: {existingClaim: home}
login:
  enabled: true
  users:
    passwd: "ada:x:2001:2001:Ada Lovelace:/home/ada:/bin/bash\\nbob:x:2002:2002:Bob:/home/bob:/bin/bash\\n"
    group: "ada:x:2001:\\nbob:x:2002:\\n"
    authorizedKeys: {ada: "$1", bob: "$1"}
controller:
  extraConf: |
    Licenses=solver:1
    MinJobAge=1800
    PreemptType=preempt/partition_prio
    PreemptMode=SUSPEND,GANG
    ScronParameters=enable
partitions:
  main: {config: "State=UP Default=YES MaxTime=UNLIMITED PreemptMode=REQUEUE"}
  patient: {nodesets: [ALL], config: "State=UP PreemptMode=SUSPEND"}
  urgent: {nodesets: [ALL], config: "State=UP PriorityTier=10 PreemptMode=OFF"}
END
}
enable_everyday() {
  needs_slurm 24.05 # login pods need client ids
  has_login >/dev/null 2>&1 || install_login everyday_values ada
}

# In a terminal without input. Prints both outputs.
as_on_a_terminal() { # USER COMMAND
  # shellcheck disable=SC2016 # of the shell in the pod
  slurm sh -c 'test -e /tmp/keyboard || mkfifo /tmp/keyboard
    exec ssh -tt -i "$0" -o BatchMode=yes -o LogLevel=ERROR -o UserKnownHostsFile=/tmp/login-test-hosts "$@" \
      2>&1 <>/tmp/keyboard' "$SSH_KEY" "$1@slurm-login" "$2" | tr -d '\r'
}
said_to() { # USER COMMAND: what it prints on both
  slurm ssh -i "$SSH_KEY" -o BatchMode=yes -o LogLevel=ERROR -o UserKnownHostsFile=/tmp/login-test-hosts \
    "$1@slurm-login" "$2" 2>&1 </dev/null || true
}
submit_as() { ssh_as "$1" "sbatch --parsable --output=/dev/null ${*:2}"; } # USER OPTIONS
tasks_in() { # JOB: "NUMBER STATE" for each state
  slurm squeue --noheader --array --states=all --jobs="$1" --format=%T | sort | uniq -c | awk '{print $1, $2}'
}
all_tasks_are() { [[ $(tasks_in "$1") == "$2" ]]; } # JOB "NUMBER STATE"

test_an_array_of_1000_tasks() {
  local job
  enable_everyday
  job=$(submit_as ada --array=1-1000 --ntasks=1 --mem=16 --wrap true)
  wait_for 420 "1000 tasks done" all_tasks_are "$job" "1000 COMPLETED"
}

test_dependencies() {
  local first good bad after never each
  enable_everyday
  ssh_as ada 'rm -f go'
  first=$(submit_as ada --wrap "'until test -e go; do sleep 0.2; done'")
  good=$(submit_as ada "--dependency=afterok:$first" --wrap true)
  assert_equal "reason of $good" Dependency "$(job_field "$good" Reason)"
  bad=$(submit_as ada "--dependency=afterok:$good" --wrap "'exit 4'")
  after=$(submit_as ada "--dependency=afternotok:$bad" --wrap true)
  never=$(submit_as ada "--dependency=afterok:$bad" --kill-on-invalid-dep=yes --wrap true)
  each=$(submit_as ada "--dependency=afterany:$bad,singleton" --wrap true)
  ssh_as ada 'touch go'
  wait_done "$after" 120
  wait_done "$each" 60
  wait_job "$never" CANCELLED 60
  assert_equal "$good" COMPLETED "$(job_state "$good")"
  [[ ! $(job_field "$good" StartTime) < $(job_field "$first" EndTime) ]] || fail "$good began before $first had ended"
}

# Powered-down nodes are in it.
test_a_reservation() {
  local name inside outside refused
  enable_everyday
  name=$(slurm scontrol create reservation users=slurm start=now duration=60 nodes=compute-[0-6] flags=ignore_jobs |
    sed -n 's/Reservation created: //p')
  outside=$(submit_as ada -N1 --wrap "'sleep 600'")
  wait_job "$outside" RUNNING 90
  assert_equal "ada's node" compute-7 "$(job_nodes "$outside")"
  inside=$(submit "--reservation=$name" -N2 --wrap true)
  wait_done "$inside" 90
  [[ $(job_nodes "$inside") != *compute-7* ]] || fail "a job of the reservation had compute-7"
  refused=$(said_to ada "sbatch --reservation=$name --wrap true")
  [[ $refused == *"Access denied to requested reservation"* ]] || fail "ada in the reservation: $refused"
  assert_equal "pods for others" "" "$(pods | grep -vE 'compute-[0-7]$' || true)"
  slurm scancel "$outside"
  slurm scontrol delete "reservationname=$name"
}

# Each component has nodes of its own, and its step waits until the pods of all are up.
test_a_heterogeneous_job() {
  local job
  enable_everyday
  assert_equal "pods before" 0 "$(pod_count)"
  job=$(ssh_as ada 'rm -f het.out; sbatch --parsable --output=het.out --wrap "srun --het-group=0,1 \
    sh -c \"whoami; hostname\"" -N1 -w compute-0 --exclusive : -N2 -w compute-1,compute-2 --exclusive')
  wait_for 120 "both components done" all_tasks_are "$job" "2 COMPLETED"
  assert_equal "where its step ran" "ada
ada
ada
compute-0
compute-1
compute-2" "$(ssh_as ada 'sort het.out')"
}

test_licences() {
  local first second
  enable_everyday
  first=$(submit_as ada -N1 -L solver --wrap "'sleep 300'")
  wait_job "$first" RUNNING 90
  second=$(submit_as bob -N1 -L solver --wrap true)
  wait_for 60 "the reason" job_has_reason "$second" Licenses
  assert_equal "pods" 1 "$(pod_count)"
  ssh_as ada "scancel $first"
  wait_done "$second" 90
}

test_preemption_by_requeue_and_by_suspension() {
  local requeued suspended urgent
  enable_everyday
  requeued=$(submit_as ada -N8 --exclusive --requeue --wrap "'sleep 600'")
  wait_job "$requeued" RUNNING 120
  urgent=$(submit_as bob -p urgent -N8 --exclusive --wrap "'sleep 3'")
  wait_done "$urgent" 120
  assert_equal "restarts" 1 "$(job_field "$requeued" Restarts)"
  ssh_as ada "scancel $requeued"
  wait_for 60 "no job" has_no_job

  suspended=$(submit_as ada -p patient -n1 -w compute-0 --mem=64 --wrap "'sleep 600'")
  wait_job "$suspended" RUNNING 90
  urgent=$(submit_as bob -p urgent -N1 -n2 -w compute-0 --mem=64 --wrap "'$(runs_until urgent)'")
  wait_job "$urgent" RUNNING 60
  assert_equal "ada's job" SUSPENDED "$(job_state "$suspended")"
  end_run compute-0 urgent
  wait_done "$urgent" 60
  wait_job "$suspended" RUNNING 60
  assert_equal "restarts" 0 "$(job_field "$suspended" Restarts)"
  ssh_as ada "scancel $suspended"
}

test_interactive_jobs() {
  local said
  enable_everyday
  said=$(as_on_a_terminal ada \
    'srun --quiet -N1 -w compute-0 --pty bash -c "tty; whoami; hostname; exit 3"; echo "code $?"')
  [[ $said =~ ^/dev/pts/[0-9]+.*ada.*compute-0.*"code 3"$ ]] || fail "srun --pty: $said"
  said=$(as_on_a_terminal ada 'salloc --quiet -N2 bash -c "srun hostname | sort; exit 5"; echo "code $?"')
  [[ $said == *compute-*compute-*"code 5"* ]] || fail "salloc: $said"
  wait_for "no job left" has_no_job
}

# Each task gets all of the input, and each of its lines comes back, in order.
test_input_and_output_of_300_tasks() {
  local said
  enable_everyday
  # shellcheck disable=SC2016 # the tasks' own
  said=$(ssh_as ada 'seq 100 | timeout 120 srun -N8 --ntasks=300 --overcommit --mem=0 --label \
      sh -c "cat; echo task \$SLURM_PROCID >&2; exit \$((SLURM_PROCID == 299))" >output 2>errors
    echo "code $?"
    awk -F ": *" "{ if (\$2 != ++line[\$1]) wrong++ } END { print NR, length(line), wrong + 0 }" output
    grep -oE "task [0-9]+$" errors | sort -u | wc -l' | paste -sd ,)
  assert_equal "its code; lines, tasks, lines out of order; errors of tasks" "code 1,30000 300 0,300" "$said" ||
    { ssh_as ada 'grep -v ": task" errors | head -5' | sed 's/^/# /'; return 1; }
}

test_sbcast() {
  local job said
  enable_everyday
  job=$(ssh_as ada 'echo of ada >data; sbatch --parsable -N2 --wrap "sbcast data /tmp/copy; srun cat /tmp/copy"')
  wait_done "$job" 120
  assert_equal "on each node" "of ada
of ada" "$(ssh_as ada "cat slurm-$job.out")"
}

# Slurm 24.11 would hang for good after each of them (plugins/slurmctld/sbcast_requests.hpp).
test_a_refused_sbcast_does_not_hang_slurmctld() {
  local job said
  enable_everyday
  job=$(submit_as ada -N1 --wrap "'sleep 300'")
  wait_job "$job" RUNNING 90
  said=$(said_to ada "echo data >data; timeout 60 sbcast --jobid=$job.99 data /tmp/copy")
  [[ $said == *"Invalid job id"* ]] || fail "a step that is not there: $said"
  said=$(said_to bob "echo data >data; timeout 60 sbcast --jobid=$job data /tmp/copy")
  [[ ${said,,} == *"user id"* || ${said,,} == *access* ]] || fail "another user's job: $said"
  # slurmctld of 26.05 gives SlurmUser a credential, which slurmd then refuses.
  said=$(slurm timeout 60 sbcast "--jobid=$job" /etc/hostname /tmp/copy 2>&1 || true)
  [[ $said == *"Invalid user id"* || $said == *"Invalid job credential"* ]] ||
    fail "a user whom slurmctld does not know: $said"
  ssh_as ada "timeout 60 scancel $job"
  wait_job "$job" CANCELLED 20
}

test_sattach() {
  local job said
  enable_everyday
  ssh_as ada 'rm -f heard'
  job=$(submit_as ada -N1 --wrap "'srun bash -c \"until test -e heard; do echo said; sleep 0.2; done\"'")
  wait_for 90 "its step" has_step "$job"
  said=$(ssh_as ada "timeout 60 sattach $job.0 | { read -r line; touch heard; echo \$line; cat; } | sort -u")
  assert_equal "what sattach shows" said "$said"
  wait_done "$job" 30
}
has_step() { slurm squeue --noheader --steps --jobs="$1" --format=%i | grep -qx "$1.0"; }

test_scrontab() {
  local shown
  enable_everyday
  ssh_as ada 'rm -f clock; echo "* * * * * echo tick by \$(whoami) >>clock" | scrontab -'
  shown=$(ssh_as ada 'scrontab -l')
  [[ $shown == *"echo tick"* ]] || fail "scrontab -l: $shown"
  wait_for 180 "it ran" ssh_as ada 'grep -qx "tick by ada" clock'
  ssh_as ada 'scrontab -r'
  wait_for 60 "no job left" has_no_job
}

test_what_is_refused_is_said() {
  local said job
  enable_everyday
  said=$(said_to ada 'ssh compute-1')
  [[ $said == *"compute-1 is a Slurm node in a pod"*"srun --nodelist=compute-1 --pty bash"* ]] || fail "ssh: $said"
  job=$(submit_as ada -N1 -w compute-1 --wrap "'sleep 60'")
  wait_job "$job" RUNNING 90
  said=$(said_to ada 'ssh compute-1')
  [[ $said == *"srun --jobid=$job --overlap --nodelist=compute-1 --pty bash"* ]] || fail "ssh to a job: $said"
  assert_equal "what it says to type" compute-1 \
    "$(ssh_as ada "srun --jobid=$job --overlap --nodelist=compute-1 hostname")"
  said=$(said_to ada 'ssh -o ConnectTimeout=2 login.invalid')
  [[ $said != *Slurm* ]] || fail "ssh elsewhere: $said"
  said=$(said_to ada 'srun --x11 -N1 true')
  [[ $said == *"No DISPLAY variable set, cannot setup x11 forwarding"* ]] || fail "--x11: $said"
  said=$(said_to ada 'DISPLAY=:1 srun --x11 -N1 true')
  [[ $said == *"Cannot stat() local X11 socket"* ]] || fail "--x11 with a local display: $said"
  said=$(said_to ada 'DISPLAY=localhost:10.0 srun --x11 -N1 true')
  [[ $said == *"Cannot use X11 forwarding"* ]] || fail "--x11 with a display of the network: $said"
  said=$(said_to ada 'srun --container=/tmp/bundle -N1 true')
  [[ $said == *"no job containers are configured"* ]] || fail "--container of a job: $said"
  said=$(said_to ada "srun --jobid=$job --overlap --container=/tmp/bundle true")
  [[ $said == *"--container=/tmp/bundle: no job containers are configured"* ]] || fail "--container of a step: $said"
  ssh_as ada "scancel $job"
}
