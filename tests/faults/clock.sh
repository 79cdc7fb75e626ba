# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The clock of slurmctld's machine is wrong for a while, or that of all machines is set ahead or back by an hour.
#
# shifted_clock.c shows slurmctld, its clients and slurmds another time of day than the machine's. Jobs write the
# machine's time into the ledger; Kubernetes' clock stays right.
#
# Release: clocks

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

HOUR=3600

# set_clock OF SECONDS: of slurmctld or slurmd, ahead of the machine's clock. In place: it is mapped.
set_clock() { printf '%+011d' "$2" 1<>"$LEDGER/clock-$1"; }
set_clocks() { set_clock slurmctld "$1"; set_clock slurmd "$1"; }

# Environment of a container whose clock the file clock-$1 sets.
clock_environment() {
  echo "[{name: LD_PRELOAD, value: /ledger/shifted_clock.so}, {name: SHIFTED_CLOCK, value: /ledger/clock-$1}]"
}

install_with_clocks() {
  gcc -Wall -Wextra -Werror -O2 -shared -fPIC -o "$LEDGER/shifted_clock.so" "$E2E_FOLDER/../faults/shifted_clock.c"
  set_clocks 0
  install_release --values=<(cat <<END
controller:
  slurmctld:
    env: $(clock_environment slurmctld)
    volumeMounts: [{name: ledger, mountPath: /ledger}]
  podSpec:
    volumes: [{name: ledger, hostPath: {path: "$LEDGER", type: Directory}}]
END
  )
  kubectl patch nodesets.slurm-k8s.io compute --type=merge --patch-file=<(cat <<END
spec: {slurmd: {env: $(clock_environment slurmd)}}
END
  ) >/dev/null
}

all_run() { # NODE…
  local node
  for node; do pod_is "$node" Running || return 1; done
}
begin_resume() { # NAME: of compute-[1-4], whose slurmds are held
  hold_slurmd compute-{1..4}
  start_job "$1" "BEATS=3 NODES=1" -N4 -w 'compute-[1-4]' >/dev/null
  wait_for 60 "pods without slurmd" all_run compute-{1..4}
}
begin_running() { # NAME: of compute-0
  start_job "$1" "BEATS=0" -N1 -w compute-0 >/dev/null
  wait_for 60 "a running job" has_beaten "$1" 2
}
ran_once() { assert_equal "runs of $1" 1 "$(grep -c ' start' "$LEDGER/$1")"; }
says_state() { [[ $(kubectl get pod "$1" -o jsonpath='{.metadata.labels.slurm-k8s\.io/state}') == "$2" ]]; }

# While the two differ neither believes the other's signatures.
test_clock_of_slurmctld_wrong_for_20_seconds() {
  local running later since
  set_clocks 0
  running=$(unique running) later=$(unique later)
  begin_running "$running"
  set_clock slurmctld "$HOUR"
  sleep 20
  set_clock slurmctld 0
  since=$(now_ms)
  wait_for "slurmctld's answer" controller_ready
  start_job "$later" "BEATS=2 NODES=1" -N4 >/dev/null
  stop_job "$running"
  settle "$since" 240 "$running" "$later"
  ran_once "$running"
}

# slurmctld takes ResumeTimeout for passed, and requeues the job. A node whose slurmd registers before its pod has gone
# is in service again (ReturnToService=2): the job may start there once in vain.
test_clocks_set_ahead_in_a_resume() {
  local running resumed since
  set_clocks 0
  running=$(unique running) resumed=$(unique resumed)
  begin_running "$running"
  begin_resume "$resumed"
  set_clocks "$HOUR"
  since=$(now_ms)
  release_slurmd
  stop_job "$running"
  settle "$since" 240 --restarts 2 "$running" "$resumed"
  ran_once "$running"
}

# slurmctld's timers stand still for an hour, and slurmds that boot now are too old for it.
test_clocks_set_back_in_a_resume() {
  local running resumed queued later since
  set_clocks "$HOUR"
  running=$(unique running) resumed=$(unique resumed) queued=$(unique queued) later=$(unique later)
  begin_running "$running"
  start_job "$queued" "BEATS=1 NODES=1" -N1 --exclusive -w compute-0 >/dev/null
  begin_resume "$resumed"
  set_clocks 0
  since=$(now_ms)
  release_slurmd
  wait_for 60 "slurmctld restarted" logged_since "$since" "$CONTROLLER" "engine started"
  start_job "$later" "BEATS=0 NODES=1" -N2 --exclusive -w 'compute-[5-6]' >/dev/null
  wait_for 60 "a beat of a later job" has_beaten "$later" 1
  # The sidecar has slurmctld's changes of records, although their times are older than those that it has seen.
  wait_for "the state of its node on a pod" says_state compute-5 allocated
  stop_job "$running"
  stop_job "$later"
  settle "$since" 300 --restarts 1 "$running" "$resumed" "$queued" "$later"
  ran_once "$running"
}

# set_in_a_suspend FROM TO: seconds that the clocks are ahead. slurmctld forgets ended jobs after MinJobAge, 5 minutes.
set_in_a_suspend() {
  local first second id since
  set_clocks "$1"
  first=$(unique first) second=$(unique second)
  id=$(start_job "$first" "BEATS=1 NODES=1" -N8)
  wait_done "$id" 120
  power_down 'compute-[0-7]'
  wait_for "pods of a mass suspend" is_pod_going
  set_clocks "$2"
  since=$(now_ms)
  start_job "$second" "BEATS=2 NODES=1" -N8 >/dev/null
  settle "$since" 240 --restarts 1 "$second"
  ran_once "$first"
}
test_clocks_set_ahead_in_a_suspend() { set_in_a_suspend 0 "$HOUR"; }
test_clocks_set_back_in_a_suspend() { set_in_a_suspend "$HOUR" 0; }

install_with_clocks
