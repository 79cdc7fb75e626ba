# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# slurmctld is reconfigured again and again, or comes back with a state that is older than the world.
#
# Release: ledger

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

STORM=20
reconfigure_storm() {
  local number
  for ((number = 0; number < STORM; number++)); do
    slurm scontrol reconfigure
  done
}

# A job whose nodes register while slurmctld is ending must not be launched then: the launch would be lost.
test_reconfigure_storm_in_a_resume() {
  local name round since names=()
  for round in 1 2 3; do
    name=$(unique "storm$round")
    names+=("$name")
    start_job "$name" "BEATS=5 NODES=1" -N8 >/dev/null
    wait_for "pods of a mass resume" pods_are_many 3
    since=$(now_ms)
    reconfigure_storm
    echo "# $STORM times scontrol reconfigure: $((($(now_ms) - since) / 1000)) s"
    # Its srun is refused meanwhile, and waits longer with each try.
    wait_for 120 "the job's end" job_has_ended "$name"
    power_down 'compute-[0-7]'
    wait_for 60 "no pod" has_pod_count 0
  done
  settle "$(now_ms)" 120 "${names[@]}"
}

test_reconfigure_storm_in_a_suspend() {
  local first second id since
  first=$(unique storm)
  id=$(start_job "$first" "BEATS=1 NODES=1" -N8)
  wait_done "$id" 120
  power_down 'compute-[0-7]'
  wait_for "pods of a mass suspend" is_pod_going
  second=$(unique storm)
  start_job "$second" "BEATS=3 NODES=1" -N8 >/dev/null
  reconfigure_storm
  since=$(now_ms)
  settle "$since" 180 "$first" "$second"
}
job_has_ended() { grep -q ' end' "$LEDGER/$1"; }

test_state_from_before_the_resume() {
  local name id volume copy before since
  fresh_controller
  volume=$(volume_of_state)
  copy=$(mktemp -d)
  name=$(unique before)
  id=$(start_job "$name" "BEATS=8" -N4 -w 'compute-[0-3]' --hold)
  wait_saved
  cp --archive "$volume/." "$copy/"
  slurm scontrol release "$id"
  wait_for 60 "the job's first beat" has_beaten "$name" 1
  before=$(now_ms)
  go_back_to "$copy" "$volume"
  # Now the job is held and its nodes are powered down, but their pods are up and run it.
  slurm scontrol release "$id"
  since=$(now_ms)
  rm -r "$copy"
  settle "$since" 180 --lost "$(((before - 30000) / 1000))" "$((since / 1000))" "$name"
}

test_state_from_before_the_suspend() {
  local first second id volume copy since
  fresh_controller
  volume=$(volume_of_state)
  copy=$(mktemp -d)
  first=$(unique up)
  id=$(start_job "$first" "BEATS=1" -N4 -w 'compute-[0-3]')
  wait_done "$id" 120
  wait_saved
  cp --archive "$volume/." "$copy/"
  power_down 'compute-[0-3]'
  wait_for 60 "no pod" has_pod_count 0
  go_back_to "$copy" "$volume"
  # Now slurmctld takes the nodes for up, but they have no pods.
  second=$(unique after)
  start_job "$second" "BEATS=1" -N4 -w 'compute-[0-3]' >/dev/null
  since=$(now_ms)
  rm -r "$copy"
  settle "$since" 240 --restarts 1 "$first" "$second"
}
