# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How long slurmctld lets another client wait beside a command, against what it takes beside a baseline of the same run.

# The calls of that client: one that needs no lock, one that needs those of jobs and partitions, one that needs the
# nodes'. Goes on until the file is there, and once more. Prints the milliseconds of the slowest call, less the longest
# stall of the machine, how many calls there were, how many failed, and the slowest one.
# shellcheck disable=SC2016 # expanded in the container
CALLS='
node=$1 ended=$2 slowest=0 call=none n=0 failed=0
measure() {
  local begin=${EPOCHREALTIME/./} took
  timeout 60 "$@" >/dev/null 2>&1 || failed=$((failed + 1))
  took=$(((${EPOCHREALTIME/./} - begin) / 1000))
  n=$((n + 1))
  if ((took > slowest)); then slowest=$took call=$*; fi
}
# The longest pause of a loop without calls: the machine stalled.
note_stall() {
  local longest=0 last=${EPOCHREALTIME/./} now
  until [[ -e $ended.over ]]; do
    sleep 0.05
    now=${EPOCHREALTIME/./}
    ((now - last <= longest)) || longest=$((now - last))
    last=$now
  done
  echo $((longest / 1000)) >"$ended.stall"
}
note_stall &
round() { measure scontrol ping; measure squeue -h; measure scontrol update nodename="$node" comment="$n"; }
until [[ -e $ended ]] || ((SECONDS > 300)); do round; done
round
touch "$ended.over"
wait
echo "$((slowest - $(<"$ended.stall"))) $n $failed $call"
rm -f "$ended"*
'
# slowest_answer NODE COMMAND…: sets SLOWEST in milliseconds, SLOWEST_CALL and FAILED_CALLS; the exit code is COMMAND's.
slowest_answer() {
  local node=$1 ended file status=0 count
  ended=/tmp/ended-$RANDOM$RANDOM
  file=$(mktemp)
  shift
  slurm bash -c "$CALLS" calls "$node" "$ended" >"$file" &
  "$@" || status=$?
  slurm touch "$ended"
  wait $!
  # shellcheck disable=SC2034 # for tests
  read -r SLOWEST count FAILED_CALLS SLOWEST_CALL <"$file"
  rm "$file"
  echo "# slowest of $count calls of another client: $SLOWEST ms ($SLOWEST_CALL)" >&2
  return "$status"
}

# take_baseline NODE COMMAND…: what COMMAND costs without what the test is about.
take_baseline() {
  slowest_answer "$@"
  BASELINE=$SLOWEST
}
# assert_answers WHAT [MILLISECONDS]: within 3 s, or so long; a busy machine gets several times its baseline. The goal
# is 1 s: two cores that compile and run other tests cannot tell it. One name that slurmctld waits for takes 10 s, a
# constraint of 128 KB 8 s.
assert_answers() {
  local most=$((5 * BASELINE)) least=${2:-3000}
  ((most >= least)) || most=$least
  ((most <= 7000)) || most=7000
  echo "# $1: $SLOWEST ms, baseline $BASELINE ms, at most $most ms" >&2
  ((SLOWEST <= most)) || fail "$1: another client waited for $SLOWEST ms, $BASELINE ms without that: $SLOWEST_CALL"
}
