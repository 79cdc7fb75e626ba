# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Accounting with the chart's slurmdbd and MariaDB: each job once, limits, nothing lost while a part of it is away.
#
# Enabled by an upgrade of the default release, whose slurmctld has a state without accounting.
#
# Release: accounting

# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"

# R7: accounting.
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
  wait_for "job $bad in sacct" is_in_sacct "$bad" "FAILED|3:0"
  assert_equal "user, account" "slurm|research" "$(sacct_of "$good" User,Account)"
  assert_equal "steps" "$good|$good.batch|$good.0" \
    "$(slurm sacct --noheader --parsable2 --jobs="$good" --format=JobID | grep -v extern | paste -sd '|')"
}

# A pod's root may not read what Slurm wants to know of another user's process (plugins/jobacct_gather_linux).
test_memory_of_tasks() {
  local job
  job=$(submit --acctg-freq=task=1 --wrap "srun python3 -c 'import time; x = bytearray(200 << 20); time.sleep(600)'")
  wait_for 90 "the step's memory in sstat" has_used_200_mib sstat "$job.0"
  slurm scancel "$job"
  wait_for 60 "its memory in sacct" has_used_200_mib sacct "$job.0"
}
has_used_200_mib() { # sstat|sacct STEP
  local used
  used=$(slurm "$1" --noheader --parsable2 --noconvert --jobs="$2" --format=MaxRSS | tr -d K)
  ((used > 200 << 20)) && ((used < 300 << 20)) && [[ $(slurm "$1" -nPj "$2" --format=MaxDiskRead) =~ [1-9] ]]
}

test_settings_of_the_database() {
  local memory
  # Slurm's documentation asks for these (accounting.html). From MariaDB 11.6.2 on the first one is ON by default.
  memory=$(kubectl get statefulset slurm-mariadb \
    -o jsonpath='{.spec.template.spec.containers[0].resources.limits.memory}')
  assert_equal "memory limit" 1Gi "$memory"
  assert_equal "settings" "$(cat <<'END'
innodb_buffer_pool_size 536870912
innodb_lock_wait_timeout 900
innodb_log_file_size 67108864
innodb_snapshot_isolation OFF
max_allowed_packet 16777216
END
  )" "$(sql "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('innodb_snapshot_isolation', 'innodb_buffer_pool_size',
    'innodb_lock_wait_timeout', 'innodb_log_file_size', 'max_allowed_packet')" | tr '\t' ' ' | sort)"
  # A small buffer pool is slow, and loses nothing.
  slurmdbd_log | grep 'not recommended values: .*innodb_lock_wait_timeout' && fail "slurmdbd is not content"
  slurmdbd_log | grep 'slurmdbd-entrypoint: .* is less than' && fail "the container is not content"
  return 0
}
sql() { kubectl exec slurm-mariadb-0 -- mariadb --defaults-file=/etc/mysql/slurm-k8s.cnf -N --batch -e "$1"; }

# With innodb_snapshot_isolation=ON some of these fail, with "No error" in the place of error 1020.
test_changes_side_by_side() {
  local job out
  job=$(submit -w compute-0 --array=1-8 --wrap true)
  # shellcheck disable=SC2016 # the container's own variables
  out=$(slurm bash -c '
    change() { sacctmgr --immediate add account side-$1 parent=research fairshare=1 &&
      sacctmgr --immediate add user slurm account=side-$1 fairshare=$1 &&
      sacctmgr --immediate modify account research set fairshare=$1 &&
      sacctmgr --immediate modify user slurm set fairshare=$1 where account=research; }
    for i in {1..16}; do change $i 2>&1 & done; wait')
  grep -iE 'error|1020|changed since' <<<"$out" && fail "a change has failed: $out"
  slurmdbd_log | grep -E '\b1020\b|changed since last read' && fail "slurmdbd has logged error 1020"
  assert_equal "accounts" 16 "$(slurm sacctmgr -nP list account format=account | grep -c '^side-')"
  assert_equal "users of them" 16 "$(slurm sacctmgr -nP list assoc where user=slurm format=account | grep -c '^side-')"
  wait_for 120 "the jobs in sacct" array_is_in_sacct "$job" 8
}
array_is_in_sacct() { [[ $(sacct_of "$1" State | sort | uniq -c) =~ ^\ *$2\ COMPLETED$ ]]; } # JOB TASKS

test_a_limit_holds_a_job() {
  local first second
  slurm sacctmgr --immediate add qos single set MaxJobsPerUser=1 >/dev/null
  slurm sacctmgr --immediate modify user slurm set qos+=single >/dev/null
  first=$(submit --qos=single --wrap 'sleep 600')
  second=$(submit --qos=single --wrap true)
  wait_job "$first" RUNNING 60
  wait_for "the reason" job_has_reason "$second" QOSMaxJobsPerUserLimit
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
