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
  enforce: [associations]
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
fair_share() { slurm sshare --noheader --parsable2 --users="$1" --format=FairShare | tail -1; } # USER
# u1 has used the most, u2 less, u3 nothing.
is_ranked() {
  [[ $(printf '%s\n' "$(fair_share u1)" "$(fair_share u2)" "$(fair_share u3)" | sort --general-numeric-sort --unique |
    wc -l) == 3 ]] && awk "BEGIN {exit !($(fair_share u1) < $(fair_share u2) && $(fair_share u2) < $(fair_share u3))}"
}

# Ten arrays of ten tasks each.
submit_burst() { # USER
  as "$1" 'for _ in 1 2 3 4 5 6 7 8 9 10; do
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
  local first second user
  install_login fair_share_values u1
  add_users
  first=$(as u1 "sbatch --parsable --output=/dev/null -N4 --exclusive --wrap 'sleep 60'")
  second=$(as u2 "sbatch --parsable --output=/dev/null -N2 --exclusive --wrap 'sleep 60'")
  wait_done "$first" 150
  wait_done "$second" 60
  wait_for 150 "fair share of what was used" is_ranked
  wait_for 60 "a cluster at zero" to_zero

  slurm scontrol update partitionname=main state=down
  for user in "${USERS[@]}"; do submit_burst "$user" & done
  wait
  wait_for 30 "2000 jobs" are_pending
  assert_equal "pods" 0 "$(pod_count)"
  slurm scontrol update partitionname=main state=up
  wait_for 600 "their end" no_burst
  wait_for 120 "they are in sacct" are_in_sacct
  order >"$WORK/order"
  echo "# of the last 100 that began, $(tail -100 "$WORK/order" | grep -c '|u1|') were of u1, who had used the most"
  echo "# of the 100 before, $(tail -200 "$WORK/order" | head -100 | grep -c '|u2|') were of u2"
  # The backfill scheduler may start some earlier, on a CPU that becomes free while it looks at the queue.
  (($(tail -100 "$WORK/order" | grep -c '|u1|') >= 80)) || fail "the jobs of u1 were not the last"
  (($(tail -200 "$WORK/order" | head -100 | grep -c '|u2|') >= 70)) || fail "the jobs of u2 were not the last but one"
}
