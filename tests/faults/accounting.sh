# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Short jobs while slurmctld, slurmdbd and MariaDB are killed at random, and away for a minute each: sacct has each job
# once. A seed chooses when which of them is killed; E2E_SEED repeats it.
#
# slurmctld saves its state every 5 seconds, and when it terminates. One that is terminated, as the kubelet does it,
# loses nothing. One that gets SIGKILL forgets what it has not saved: those submissions, and starts and ends of jobs,
# which run again (facts of Slurm). tests/faults/accounted judges by that. Ids of those submissions are given to no
# other job.
#
# Alone: all
# Release: accounting-faults

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"
# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"

JOBS=500
FAULTS="slurmdbd*3 mariadb*3 slurmctld-killed*2 slurmctld-ended*1 slurmctld-deleted*2"
LONGEST_PAUSE=15 # seconds between two of them: the next may be killed before the former is back
SEED=${E2E_SEED:-$RANDOM}
SUBMITTED=$LEDGER/submitted # time, number of the try, job id
RUNS=$LEDGER/runs           # time, job name, job id, restarts, id of the run, start or end
KILLS=$LEDGER/kills         # time before and after a SIGKILL of slurmctld, the file with what it had saved

# In a job of its own, since slurmctld's container is killed: it tries again when there is no answer, at least until
# there is a file "enough". Each try has a number: a job whose answer was lost is not in the file.
start_submitter() { # NAME
  cat >"$LEDGER/short.sh" <<'END'
run=$(</proc/sys/kernel/random/uuid)
say() { echo "$(date +%s.%3N) $SLURM_JOB_NAME $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $run $1" >>/ledger/runs; }
say start
sleep 0.5
say end
END
  cat >"$LEDGER/submit.sh" <<END
for ((try = 1, answers = 0; answers < $JOBS; try++)); do
  if id=\$(sbatch --parsable --job-name="$1.\$try" --output=/dev/null --ntasks=1 --mem=16 \
      --wrap 'exec bash /ledger/short.sh'); then
    echo "\$(date +%s.%3N) \$try \$id" >>/ledger/submitted
    if ((answers < $JOBS - 1)) || [[ -e /ledger/enough ]]; then answers=\$((answers + 1)); fi
  fi
  sleep 0.6
done
END
  rm -f "$LEDGER/enough"
  install -m 666 /dev/null "$SUBMITTED"
  install -m 666 /dev/null "$RUNS"
  : >"$KILLS"
  submit --job-name="$1-submitter" -N1 -w compute-7 --exclusive --no-requeue --wrap 'exec bash /ledger/submit.sh'
}
submitted() { wc -l <"$SUBMITTED"; }

# PART:SECONDS for each fault: what is killed, and how long after the one before.
random_faults() {
  awk -v seed="$SEED" -v faults="$FAULTS" -v longest="$LONGEST_PAUSE" 'BEGIN {
    srand(seed)
    for (count = split(faults, words); count; count--) {
      split(words[count], fault, "*")
      for (; fault[2]; fault[2]--) left[++all] = fault[1]
    }
    for (; all; left[number] = left[all--]) {
      number = 1 + int(rand() * all)
      printf "%s:%.1f ", left[number], rand() * longest
    }
  }'
}
# One that is not started again yet cannot be killed: that is not one more.
inflict() { # PART
  case $1 in
    slurmdbd) wait_for 120 "$1 killed" "$BED" fault kill slurm-accounting-0/slurmdbd ;;
    mariadb) wait_for 120 "$1 killed" "$BED" fault kill slurm-mariadb-0/mariadb ;;
    slurmctld-killed) kill_sent_slurmctld ;;
    slurmctld-ended) wait_for 120 "slurmctld terminated" ctld bash -c 'kill -TERM 1' ;;
    slurmctld-deleted) kubectl delete pod "$CONTROLLER" --wait=false >/dev/null ;;
  esac
}
# Its queue of records for slurmdbd is in memory alone: see test_a_slurmctld_killed_while_slurmdbd_is_away.
kill_sent_slurmctld() {
  wait_for 180 "all is sent to slurmdbd" has_sent
  note_kill
}
note_kill() {
  local before saved
  saved=$LEDGER/saved-$(now_ms)
  before=$(now_ms)
  "$BED" fault kill "$CONTROLLER/slurmctld"
  # A file that the next slurmctld writes has no more of what this one was told.
  grep -aoE "$NAME\.[0-9]+" "$STATE/job_state" | sort -u >"$saved"
  echo "$before $(now_ms) $saved" >>"$KILLS"
}
has_sent() { slurm sdiag | grep -q '^DBD Agent queue size: 0$'; }

is_ready() { [[ $(kubectl get statefulset "$1" -o jsonpath='{.status.readyReplicas}') == 1 ]]; } # SET
all_are_back() { is_ready slurm-accounting && is_ready slurm-mariadb && is_ready slurm-controller && controller_ready; }
# In the minute without slurmdbd and in that without MariaDB slurmctld is terminated: its queue of records is kept.
away() { # SET
  kubectl scale statefulset "$1" --replicas=0 >/dev/null
  sleep 30
  if [[ $1 != slurm-controller ]]; then inflict slurmctld-deleted; fi
  sleep 30
  kubectl scale statefulset "$1" --replicas=1 >/dev/null
  wait_for 120 "$1 back" is_ready "$1"
}

# All records, also former runs of a job.
in_sacct() {
  slurm env SLURM_TIME_FORMAT=%s sacct --noheader --parsable2 --allocations --duplicates --allusers \
    --starttime=now-1hour --format=JobID,JobName,State,Submit | grep -F "|$NAME"
}
judge() {
  in_sacct >"$WORK/records"
  "$E2E_FOLDER/../faults/accounted" --name "$NAME" --submitted "$SUBMITTED" --runs "$RUNS" --kills "$KILLS" \
    --records "$WORK/records" || fail "not all as it must be"
  assert_equal "ids of two jobs" "" "$(cut -d ' ' -f 3 "$SUBMITTED" | sort | uniq -d | paste -sd ' ')"
}
open_records() { in_sacct | grep -E '\|(PENDING|RUNNING)\|' | cut -d '|' -f 1 | sort; }
# Records of forgotten jobs do not end by themselves. As docs/admin/accounting.md has it.
end_forgotten() {
  local found
  found=$(slurm sacctmgr --immediate --noheader --parsable2 show runawayjobs format=ID | grep -E '^[0-9]+$' | sort)
  echo "# runaway jobs: $(paste -sd ' ' <<<"$found")"
  assert_equal "runaway jobs" "$1" "$found"
  assert_equal "open records" "" "$(open_records)"
}

# That of wait_saved: a slurmctld that is killed may forget that it was cancelled.
forget_saved_jobs() {
  local jobs
  jobs=$(slurm squeue --noheader --states=PENDING --format='%A %j' | sed -n 's/ saved-.*//p')
  # shellcheck disable=SC2086 # ids
  if [[ $jobs ]]; then slurm scancel $jobs; fi
}

test_each_of_500_jobs_is_in_sacct_once() {
  local submitter fault part
  enable_accounting --set accounting.enforce=null
  NAME=$(unique accounted)
  STATE=$(volume_of_state)
  submitter=$(start_submitter "$NAME")
  wait_job "$submitter" RUNNING 90
  wait_saved # a SIGKILL is not to end the submitter
  echo "# seed $SEED: $(random_faults)"
  for fault in $(random_faults); do
    sleep "${fault#*:}"
    inflict "${fault%:*}"
    echo "# ${fault%:*} after ${fault#*:} s, $(submitted) jobs submitted"
  done
  wait_for 180 "all are back" all_are_back
  for part in slurm-accounting slurm-mariadb slurm-controller; do
    away "$part"
    echo "# $part was away, $(submitted) jobs submitted"
  done
  wait_for 60 "slurmctld up" controller_ready
  touch "$LEDGER/enough"
  wait_done "$submitter" 300
  forget_saved_jobs
  wait_for 120 "no job left" has_no_job
  wait_for 180 "all is sent to slurmdbd" has_sent
  judge
  end_forgotten "$(open_records)"
}
test_a_slurmctld_killed_while_slurmdbd_is_away() {
  local ended ran waits
  enable_accounting --set accounting.enforce=null
  NAME=$(unique kept)
  STATE=$(volume_of_state)
  ended=$(start_job "$NAME.1" "BEATS=0" -N1)
  wait_for 60 "the job's first beat" has_beaten "$NAME.1" 1
  wait_for 60 "all is sent to slurmdbd" has_sent

  kubectl scale statefulset slurm-accounting --replicas=0 >/dev/null
  wait_for 60 "no slurmdbd" has_no_slurmdbd
  ran=$(start_job "$NAME.2" "BEATS=1" -N1)
  waits=$(start_job "$NAME.3" "BEATS=1" -N1 --hold)
  wait_done "$ran" 60
  stop_job "$NAME.1"
  wait_done "$ended" 30
  wait_saved
  echo "# $(slurm sdiag | grep '^DBD Agent queue size') messages"
  kill_container slurmctld
  kubectl scale statefulset slurm-accounting --replicas=1 >/dev/null
  wait_for 120 "slurmdbd back" is_ready slurm-accounting
  wait_for 60 "slurmctld up" controller_ready
  slurm scontrol release "$waits"
  wait_done "$waits" 60
  wait_for 60 "all is sent to slurmdbd" has_sent
  # slurmctld sends the ends of all jobs that it knows once more when it starts, but no start that it had queued.
  assert_equal "jobs in sacct" "$ended|$NAME.1|COMPLETED" "$(in_sacct | cut -d '|' -f 1-3)"
}
