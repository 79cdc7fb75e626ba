# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job is cancelled at each of its steps.
#
# Release: ledger

# shellcheck source=tests/faults/lib.sh
source "$E2E_FOLDER/../faults/lib.sh"

is_registered() { [[ $(node_state "$1") != *POWER* ]] && [[ $(node_state "$1") != *NOT_RESPONDING* ]]; }

test_cancelled_at_each_step() {
  local names=() ids=() since never=() name
  start_step() { # STEP NODES
    name=$(unique "$1")
    names+=("$name")
    ids+=("$(start_job "$name" "BEATS=0" -N2 -w "$2" --exclusive)")
  }
  trap 'let_pods_start; release_slurmd' EXIT

  hold_slurmd compute-{0,1,4,5,7}
  start_step allocated 'compute-[0-1]'
  wait_job "${ids[-1]}" "CONFIGURING" 20
  slurm scancel "${ids[-1]}"

  hold_pods
  start_step requested 'compute-[2-3]'
  wait_for "two pods pending" pods_are_pending compute-2 compute-3
  slurm scancel "${ids[-1]}"

  let_pods_start
  start_step pod_runs 'compute-[4-5]'
  wait_for "compute-4's pod running" pod_is compute-4 Running
  wait_for "compute-5's pod running" pod_is compute-5 Running
  slurm scancel "${ids[-1]}"

  # One of its two nodes is there.
  start_step registered 'compute-[6-7]'
  wait_for "compute-6 registered" is_registered compute-6
  wait_job "${ids[-1]}" "CONFIGURING" 1
  slurm scancel "${ids[-1]}"
  release_slurmd
  never=("${names[@]/#/--never-ran=}")

  start_step runs 'compute-[6-7]'
  wait_for 60 "the job's first beat" has_beaten "$name" 1
  slurm scancel "${ids[-1]}"
  since=$(now_ms)
  settle "$since" 180 "${names[@]/#/--cancelled=}" "${never[@]}" "${names[@]}"
}
pods_are_pending() { pod_is "$1" Pending && pod_is "$2" Pending; }
