# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kill -9 of each part, in the middle of a mass resume and of a mass suspend. Nothing is lost, run twice or left behind.
#
# Alone: test_api_server test_etcd test_kubelet
# Release: ledger

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

# All 8 nodes come up for a job, FAULT; then all of them go, FAULT, and a second job needs them again.
through() { # FAULT LIMIT [RESTARTS of the second job]
  local first second id since
  first=$(unique resume)
  id=$(start_job "$first" "BEATS=3 NODES=1" -N8)
  wait_for "pods of a mass resume" pods_are_many 3
  [[ $1 != kill_slurmctld ]] || wait_saved
  "$1"
  since=$(now_ms)
  release_slurmd
  wait_done "$id" "$2"
  echo "# in a mass resume: the job ended $((($(now_ms) - since) / 1000)) s after the fault"

  # All nodes are idle and have pods; while the state is saved SuspendTime may pass.
  assert_equal "pods after the job" 8 "$(pod_count)"
  [[ $1 != kill_slurmctld ]] || wait_saved
  power_down 'compute-[0-7]'
  wait_for "pods of a mass suspend" is_pod_going
  "$1"
  since=$(now_ms)
  second=$(unique suspend)
  start_job "$second" "BEATS=3 NODES=1" -N8 >/dev/null
  settle "$since" "$2" --restarts "${3:-0}" "$first" "$second"
}

test_slurmctld() {
  fresh_controller
  # Nothing registers until its state with the job is saved, and it was killed.
  hold_slurmd compute-{0..7}
  trap release_slurmd EXIT
  through kill_slurmctld 180
}

# Its state has the job as one that waits for its nodes, and its nodes as powering up: both have gone on since.
test_slurmctld_when_a_job_has_just_begun() {
  local job since beats
  fresh_controller
  hold_slurmd compute-{0..1}
  trap release_slurmd EXIT
  job=$(unique begun)
  start_job "$job" "BEATS=0" -N2 -w 'compute-[0-1]' >/dev/null
  wait_saved
  release_slurmd
  wait_for "the job's start" has_run "$job"
  kill_slurmctld
  since=$(now_ms)
  beats=$(grep -c ' beat' "$LEDGER/$job" || true)
  wait_for 60 "ten more seconds of the job" has_beaten "$job" $((beats + 10))
  stop_job "$job"
  settle "$since" 240 "$job"
}

# One node of the job has registered with the slurmctld that is killed, and won't again; the other one comes later.
test_slurmctld_between_the_nodes_of_a_job() {
  local job id since
  fresh_controller
  hold_slurmd compute-{0..1}
  trap release_slurmd EXIT
  job=$(unique between)
  id=$(start_job "$job" "BEATS=2 NODES=1" -N2 -w 'compute-[0-1]')
  wait_saved
  rm "$LEDGER/hold-compute-0"
  has_registered() { [[ $(node_state compute-0) != *POWERING_UP* ]]; }
  wait_for "one of the nodes" has_registered
  kill_slurmctld
  since=$(now_ms)
  release_slurmd
  wait_done "$id" 120
  echo "# the job ended $((($(now_ms) - since) / 1000)) s after the fault"
  assert_equal "restarts" 0 "$(job_field "$id" Restarts)"
  settle "$since" 180 "$job"
}

# Its script ends on one node, and the other one's slurmd, while there is no slurmctld to tell. slurmstepd tells it 15 s
# after it has given up for the first time: later than the engine sees that the other node is lost.
test_a_job_that_ends_while_slurmctld_is_away() {
  local id
  fresh_controller
  id=$(submit -N2 -w 'compute-[0-1]' --exclusive --output=/dev/null --wrap "$(runs_until ended)")
  wait_job "$id" RUNNING 60
  wait_saved
  # The kubelet restarts it at once, then after 10 s, and then after 20 s, which is longer than MessageTimeout.
  kill_container slurmctld
  kill_container slurmctld
  "$BED" fault kill "$CONTROLLER/slurmctld"
  "$BED" fault exec compute-0/slurmd touch /tmp/ended
  sleep 1 # for the script
  "$BED" fault kill compute-1/slurmd
  wait_for 90 "slurmctld up" controller_ready
  wait_done "$id" 60
  assert_equal "restarts" 0 "$(job_field "$id" Restarts)"
}

test_sidecar() { through kill_sidecar 240; }
# While the kubelet is away pods don't go: a job that needs their nodes again is requeued before it runs. A kubelet that
# lost the API server several times within minutes asks for its pods again after up to 60 s, or twice that.
test_api_server() { through kill_api_server 240 1; }
test_etcd() { through kill_etcd 240 1; }
test_kubelet() { through kill_kubelet 180 1; }
