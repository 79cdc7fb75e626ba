# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Accounting with the chart's slurmdbd and MariaDB: each job once, limits, nothing lost while a part of it is away.
#
# Enabled by an upgrade of the default release, whose slurmctld has a state without accounting.
#
# Release: accounting

# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"

test_each_job_is_in_sacct_once() {
  local good bad refused
  enable_accounting --set-string controller.extraConf=$'PreemptType=preempt/qos\nPreemptMode=REQUEUE'
  assert_equal "clusters" slurm "$(slurm sacctmgr --noheader --parsable2 list cluster format=cluster)"
  refused=$(submit --wrap true 2>&1 || true)
  [[ $refused == *"Invalid account or account/partition combination"* ]] || fail "without an account: $refused"
  slurm sacctmgr --immediate add account research >/dev/null
  slurm sacctmgr --immediate add user slurm account=research >/dev/null
  good=$(submit --wrap 'srun true')
  bad=$(submit --wrap 'exit 3')
  wait_for 90 "job $good in sacct" is_in_sacct "$good" "COMPLETED|0:0"
  wait_for 30 "job $bad in sacct" is_in_sacct "$bad" "FAILED|3:0"
  assert_equal "user, account" "slurm|research" "$(sacct_of "$good" User,Account)"
  assert_equal "steps" "$good|$good.batch|$good.0" \
    "$(slurm sacct --noheader --parsable2 --jobs="$good" --format=JobID | grep -v extern | paste -sd '|')"
}

test_a_limit_holds_a_job() {
  local first second
  slurm sacctmgr --immediate add qos single set MaxJobsPerUser=1 >/dev/null
  slurm sacctmgr --immediate modify user slurm set qos+=single >/dev/null
  first=$(submit --qos=single --wrap 'sleep 60')
  second=$(submit --qos=single --wrap true)
  wait_job "$first" RUNNING 60
  wait_for 20 "the reason" job_has_reason "$second" QOSMaxJobsPerUserLimit
  slurm scancel "$first"
  wait_done "$second" 60
}

test_a_job_of_a_higher_qos_takes_the_nodes() {
  local low high
  slurm sacctmgr --immediate add qos background >/dev/null
  slurm sacctmgr --immediate add qos important set preempt=background priority=100 >/dev/null
  slurm sacctmgr --immediate modify user slurm set qos+=background,important >/dev/null
  low=$(submit --qos=background -N8 --exclusive --requeue --wrap 'sleep 600')
  wait_job "$low" RUNNING 120
  high=$(submit --qos=important -N8 --exclusive --wrap true)
  wait_done "$high" 120
  assert_equal "restarts of the other" 1 "$(job_field "$low" Restarts)"
  slurm scancel "$low"
  wait_for 90 "both runs in sacct" has_states "$low" "PREEMPTED CANCELLED"
}
has_states() { # JOB STATES, in their order
  [[ $(sacct_of "$1" State | cut -d ' ' -f 1 | paste -sd ' ') == "$2" ]]
}

test_nothing_is_lost_while_slurmdbd_or_its_database_is_away() {
  local jobs=() restarts
  slurm srun -N1 -w compute-0 true
  "$BED" fault kill slurm-accounting-0/slurmdbd
  jobs+=("$(submit -n1 -w compute-0 --wrap true)")
  "$BED" fault kill slurm-mariadb-0/mariadb
  jobs+=("$(submit -n1 -w compute-0 --wrap true)")
  kubectl scale statefulset slurm-accounting --replicas=0 >/dev/null
  wait_for 60 "no slurmdbd" has_no_slurmdbd
  jobs+=("$(submit -n1 -w compute-0 --wrap true)")
  wait_done "${jobs[2]}" 60
  # slurmctld saves what slurmdbd does not have yet when it ends, unless it is killed.
  restarts=$(container_field slurmctld restartCount)
  slurm kill -TERM 1 || true
  wait_for 60 "slurmctld back without slurmdbd" container_is_back slurmctld "$restarts"
  wait_for 60 "slurmctld up" controller_ready
  kubectl scale statefulset slurm-accounting --replicas=1 >/dev/null
  wait_for 90 "slurmdbd" has_slurmdbd
  jobs+=("$(submit -n1 -w compute-0 --wrap true)")
  wait_for 90 "jobs ${jobs[*]} in sacct" are_in_sacct_once "${jobs[@]}"
}
