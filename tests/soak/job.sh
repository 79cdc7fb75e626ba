# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What each job of the fault tests and the soak runs: it writes down that it runs, into a file that outlives its pod.
#
# Lines of /ledger/JOBNAME: time, job id, restart count, id of this run, event (start, beat, node, end), detail. That of
# start is the script's node and all nodes.
# BEATS is set before: seconds to run; 0: until there is a file /ledger/stop-JOBNAME. NODES=1: each node writes a line,
# or the job fails. RPC=1: each beat asks slurmctld and writes how many milliseconds the answer took.

ledger=/ledger/$SLURM_JOB_NAME
run=$(</proc/sys/kernel/random/uuid)
# The machine's time, also where a test shows Slurm another one (tests/faults/clock.sh).
time_of_day() { LD_PRELOAD='' date "$@"; }
say() { echo "$(time_of_day +%s.%3N) $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $run $*" >>"$ledger"; }
now_ms() { time_of_day +%s%3N; }
beats_on() { if ((BEATS)); then ((beat < BEATS)); else [[ ! -e /ledger/stop-$SLURM_JOB_NAME ]]; fi; }

beat=0
say start "$SLURMD_NODENAME" "$SLURM_JOB_NODELIST"
if [[ ${NODES:-} ]]; then
  export ledger run
  export -f time_of_day
  # shellcheck disable=SC2016 # the node's own variables
  srun --ntasks-per-node=1 bash -c \
    'echo "$(time_of_day +%s.%3N) $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $run node $SLURMD_NODENAME" >>"$ledger"' ||
    exit 1
fi
while beats_on; do
  sleep 1
  beat=$((beat + 1))
  detail=
  if [[ ${RPC:-} ]]; then
    begun=$(now_ms)
    timeout 30 squeue --noheader >/dev/null || detail=unanswered
    detail=${detail:-$(($(now_ms) - begun))}
  fi
  say beat "$detail"
done
say end
