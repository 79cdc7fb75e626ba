# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Short jobs while slurmctld, slurmdbd and MariaDB are killed, and away for a minute each: sacct has each job once. A
# seed chooses when which of the last two is killed; E2E_SEED repeats it. slurmctld is killed when it has saved and
# sent.
#
# Alone: all
# Release: accounting-faults

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"
# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"

JOBS=500
KILLS=3          # of slurmdbd, and of MariaDB: the kubelet waits longer with each
LONGEST_PAUSE=15 # seconds between two of them: the other one may be killed before the first is back
SEED=${E2E_SEED:-$RANDOM}
IDS=$LEDGER/submitted

# In a job of its own, since slurmctld's container is killed: it submits again when there is no answer. A job whose
# answer was lost is not in the file.
start_submitter() { # NAME
  cat >"$LEDGER/submit.sh" <<END
for _ in {1..$JOBS}; do
  while [[ -e /ledger/pause ]]; do sleep 0.2; done
  until sbatch --parsable --job-name=$1 --output=/dev/null --ntasks=1 --mem=16 --wrap true >>/ledger/submitted; do
    sleep 1
  done
  sleep 0.4
done
END
  : >"$IDS"
  rm -f "$LEDGER/pause"
  chmod 666 "$IDS"
  submit --job-name="$1-submitter" -N1 -w compute-7 --exclusive --no-requeue --wrap 'exec bash /ledger/submit.sh'
}
submitted() { wc -l <"$IDS"; }

is_ready() { # SET
  [[ $(kubectl get statefulset "$1" -o jsonpath='{.status.readyReplicas}') == 1 ]]
}
kill_part() { # POD CONTAINER
  "$BED" fault kill "$1/$2"
  wait_for 120 "${1%-0} back" is_ready "${1%-0}"
}
# PART:SECONDS for each kill of slurmdbd and MariaDB: what is killed, and how long after the one before.
random_kills() {
  awk -v seed="$SEED" -v kills="$KILLS" -v longest="$LONGEST_PAUSE" 'BEGIN {
    srand(seed)
    for (left["slurmdbd"] = left["mariadb"] = kills; left["slurmdbd"] + left["mariadb"] > 0; left[part]--) {
      part = rand() * (left["slurmdbd"] + left["mariadb"]) < left["slurmdbd"] ? "slurmdbd" : "mariadb"
      printf "%s:%.1f ", part, rand() * longest
    }
  }'
}
# One that is not started again yet cannot be killed: that is not one more.
kill_running() { # PART
  case $1 in
    slurmdbd) wait_for 120 "$1 killed" "$BED" fault kill slurm-accounting-0/slurmdbd ;;
    mariadb) wait_for 120 "$1 killed" "$BED" fault kill slurm-mariadb-0/mariadb ;;
  esac
}
both_are_back() { is_ready slurm-accounting && is_ready slurm-mariadb; }
# A slurmctld that is killed forgets what it has not saved, some seconds of submissions, and gives their ids out again.
# It also forgets what slurmdbd has not got. Both are Slurm's own limits, so it is killed when it has saved and sent.
kill_saved_slurmctld() {
  touch "$LEDGER/pause"
  sleep 1
  wait_saved
  wait_for 90 "all is sent to slurmdbd" has_sent
  kill_part "$CONTROLLER" slurmctld
  rm "$LEDGER/pause"
}
away() { # SET
  kubectl scale statefulset "$1" --replicas=0 >/dev/null
  sleep 60
  kubectl scale statefulset "$1" --replicas=1 >/dev/null
  wait_for 120 "$1 back" is_ready "$1"
}

has_sent() { slurm sdiag | grep -q '^DBD Agent queue size: 0$'; }

# States of the jobs of a name as sacct has them, with duplicates.
in_sacct() { # NAME
  slurm sacct --noheader --parsable2 --allocations --duplicates --allusers --starttime=now-1hour --name="$1" \
    --format=JobID,State
}
has_all_once() { # NAME
  local records
  records=$(in_sacct "$1") || return 1
  [[ -z $(cut -d '|' -f 1 <<<"$records" | sort | uniq -d) && -z $(grep -v '|COMPLETED$' <<<"$records") ]] || return 1
  [[ -z $(sort "$IDS" | uniq -d) && -z $(comm -23 <(sort -u "$IDS") <(cut -d '|' -f 1 <<<"$records" | sort -u)) ]]
}

test_each_of_500_jobs_is_in_sacct_once() {
  local name submitter kill part
  enable_accounting --set accounting.enforce=null
  name=$(unique accounted)
  submitter=$(start_submitter "$name")
  wait_job "$submitter" RUNNING 90
  echo "# seed $SEED: $(random_kills)"
  kill_saved_slurmctld
  for kill in $(random_kills); do
    sleep "${kill#*:}"
    kill_running "${kill%:*}"
    echo "# ${kill%:*} killed after ${kill#*:} s, $(submitted) jobs submitted"
  done
  wait_for 120 "slurmdbd and MariaDB back" both_are_back
  kill_saved_slurmctld
  for part in slurm-accounting slurm-mariadb slurm-controller; do
    away "$part"
    echo "# $part was away, $(submitted) jobs submitted"
  done
  wait_for 60 "slurmctld up" controller_ready
  wait_for 300 "$JOBS jobs submitted" has_submitted_all
  forget_saved_jobs
  wait_for 120 "no job left" has_no_job
  wait_for 180 "each job in sacct once" has_all_once "$name" || {
    in_sacct "$name" | cut -d '|' -f 2 | sort | uniq -c | sed 's/^/# /'
    fail "not in sacct: $(comm -23 <(sort -u "$IDS") <(in_sacct "$name" | cut -d '|' -f 1 | sort -u) | paste -sd ' ')"
  }
}
# Those of wait_saved: a slurmctld that is killed forgets that they were cancelled.
forget_saved_jobs() {
  local jobs
  jobs=$(slurm squeue --noheader --states=PENDING --format='%A %j' | sed -n 's/ saved-.*//p')
  # shellcheck disable=SC2086 # ids
  if [[ $jobs ]]; then slurm scancel $jobs; fi
}
has_submitted_all() { (($(submitted) == JOBS)); }
