# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Twenty users submit at once, from zero pods: Slurm's order by fair share is kept while nodes come up.
#
# Alone: all
# Release: fair-share

# shellcheck source=tests/e2e/login.sh
source "$E2E_FOLDER/login.sh"
# shellcheck source=tests/e2e/accounting.sh
source "$E2E_FOLDER/accounting.sh"

USERS=()
for number in {1..20}; do USERS+=("u$number"); done

fair_share_values() { # PUBLIC-KEY
  local number passwd="" group="" keys=""
  for number in {1..20}; do
    passwd+="u$number:x:$((2100 + number)):$((2100 + number))::/home/u$number:/bin/bash\\n"
    group+="u$number:x:$((2100 + number)):\\n"
    keys+="u$number: \"$1\", "
  done
  cat <<END
sharedHome: {existingClaim: home}
login:
  enabled: true
  users: {passwd: "$passwd", group: "$group", authorizedKeys: {$keys}}
accounting:
  enabled: true
  enforce: [associations, limits]
  mariadb: {resources: {requests: {memory: 64Mi}}}
controller:
  extraConf: |
    PriorityType=priority/multifactor
    PriorityWeightFairshare=100000
    PriorityCalcPeriod=1
END
}

# Not by ssh, of which one sshd takes few at a time.
as() { # USER COMMAND
  local id=$((2100 + ${1#u}))
  kubectl exec slurm-login-0 -c sshd -- setpriv --reuid="$id" --regid="$id" --clear-groups sh -c "cd /tmp; $2"
}
add_users() {
  local user
  slurm sacctmgr --immediate add account lab >/dev/null
  slurm sacctmgr --immediate add user "$(IFS=,; echo "${USERS[*]}")" account=lab >/dev/null
  wait_for 60 "u20 may submit" as u20 "sbatch --test-only --output=/dev/null --wrap true"
  for user in "${USERS[@]}"; do as "$user" true; done
}
# u1 has used the most, each of the next half of that, u8 600 CPU seconds: more than what 100 short jobs add. All others
# have used nothing. Without enforced limits slurmctld counts no usage when a job ends (a fact of Slurm).
USED=8
use_differently() {
  local number jobs=()
  for ((number = 1; number <= USED; number++)); do
    slurm sacctmgr --immediate add qos "times$number" set "UsageFactor=$((20 << (USED - number)))" >/dev/null
    slurm sacctmgr --immediate modify user "u$number" set "qos+=times$number" >/dev/null
  done
  for ((number = 1; number <= USED; number++)); do
    jobs+=("$(as "u$number" "sbatch --parsable --output=/dev/null --qos=times$number -n1 --wrap 'sleep 30'")")
  done
  for number in "${jobs[@]}"; do wait_done "$number" 150; done
}
# USER|FAIR-SHARE|USAGE of all.
fair_shares() {
  slurm sshare --noheader --parsable2 --users="$(IFS=,; echo "${USERS[*]}")" --format=User,FairShare,RawUsage |
    grep '^u'
}
# More for each of u1 to u8 than for the one before, and most for all others.
is_ranked() {
  fair_shares | awk -F '|' -v used="$USED" '{ share[$1] = $2 }
    END {
      for (i = 1; i < 20; i++) {
        wrong += i <= used ? share["u" i] >= share["u" i + 1] : share["u" i] != share["u" i + 1]
      }
      exit wrong || NR != 20
    }'
}

# Ten arrays of ten tasks each, one every two seconds from a time on: those of all users at once.
submit_burst() { # USER SECONDS since 1970
  as "$1" 'for round in 1 2 3 4 5 6 7 8 9 10; do
    wait=$(('"$2"' + 2 * round - $(date +%s)))
    if [ "$wait" -gt 0 ]; then sleep "$wait"; fi
    sbatch --quiet --job-name=burst --output=/dev/null --array=1-10 --ntasks=1 --mem=16 --wrap true >/dev/null || exit
  done'
}
states() { slurm squeue --noheader --array --name=burst --format=%T | sort | uniq -c | awk '{print $1, $2}'; }
are_pending() { [[ $(states) == "2000 PENDING" ]]; }
no_burst() { [[ -z $(states) ]]; }
# Users of the jobs in the order in which they began.
order() {
  slurm sacct --noheader --parsable2 --allocations --allusers --name=burst --starttime=now-1hour \
    --format=Start,User,State | sort
}
are_in_sacct() { [[ $(order | grep -c '|COMPLETED$') == 2000 ]]; }

test_2000_jobs_of_20_users_in_the_order_of_fair_share() {
  local user begin
  install_login fair_share_values u1
  add_users
  use_differently
  wait_for 150 "fair share of what was used" is_ranked
  fair_shares >"$WORK/shares"
  wait_for 60 "a cluster at zero" to_zero

  slurm scontrol update partitionname=main state=down
  begin=$(($(date +%s) + 5))
  for user in "${USERS[@]}"; do submit_burst "$user" "$begin" & done
  wait
  wait_for "2000 jobs" are_pending
  assert_equal "pods" 0 "$(pod_count)"
  slurm scontrol update partitionname=main state=up
  wait_for 600 "their end" no_burst
  wait_for 120 "they are in sacct" are_in_sacct
  order >"$WORK/order"
  judge_order
}
# Mean positions of the users' jobs, and how well they follow the fair share that the users had at first: of two users
# with different shares the jobs of that with more begin earlier. The backfill scheduler may start some earlier, on a
# CPU that becomes free while it looks at the queue.
#
# Equal users are served side by side, before all others, and each in the first half of them. Not to the end: every
# minute slurmctld puts those who have used some seconds more meanwhile behind the others.
judge_order() {
  awk -F '|' -v used="$USED" '
    FNR == NR { share[$1] = $2; next }
    { position++; sum[$2] += position; last[$2] = position; if (!first[$2]) first[$2] = position }
    END {
      for (user in share) mean[user] = sum[user] / 100
      for (one in share) for (other in share) if (share[one] > share[other]) {
        pairs++
        score += mean[one] < mean[other] ? 1 : -1
      }
      least = most = mean["u20"]
      for (i = used + 1; i <= 20; i++) {
        if (mean["u" i] < least) least = mean["u" i]
        if (mean["u" i] > most) most = mean["u" i]
        if (first["u" i] > latest) latest = first["u" i]
        if (last["u" i] > end) end = last["u" i]
      }
      printf "# mean positions of u1 to u%d:", used
      for (i = 1; i <= used; i++) printf " %.0f", mean["u" i]
      printf "; of all others %.0f to %.0f, their first jobs up to %d, their last up to %d\n", least, most, latest, end
      printf "# rank correlation of fair share and mean position: gamma %.3f of %d pairs\n", score / pairs, pairs
      equal = (20 - used) * 100
      if (pairs != (20 - used) * used + used * (used - 1) / 2 || score / pairs < 0.95) exit 1
      if (least < 0.2 * equal || most > 0.9 * equal || latest > 0.5 * equal || end > 1.2 * equal) exit 1
    }' "$WORK/shares" "$WORK/order" || fail "not in the order of fair share"
}
