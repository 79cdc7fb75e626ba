# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kubectl scale changes how many nodes Slurm has.

scale() { kubectl scale nodesets.slurm-k8s.io/compute --replicas="$1" >/dev/null; }
status_replicas() { [[ $(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.status.replicas}') == "$1" ]]; }

test_8_12_6_and_back() {
  local job
  trap 'scale 8' EXIT
  scale 12
  wait_for 20 "12 node records" has_node_count 12
  wait_for 20 "status.replicas 12" status_replicas 12
  job=$(submit -N2 -w 'compute-[10,11]' --wrap 'srun hostname')
  wait_done "$job" 60
  scale 6
  # The two nodes that are up are powered down first.
  wait_for 60 "6 node records" has_node_count 6
  wait_for 20 "status.replicas 6" status_replicas 6
  wait_for 30 "no pod beyond replicas" has_pod_count 0
  if slurm sbatch -N1 -w compute-7 --wrap true >/dev/null 2>&1; then fail "a job for a removed node was taken"; fi
  scale 8
  wait_for 20 "8 node records" has_node_count 8
}

test_a_busy_node_is_drained_not_killed() {
  local job
  trap 'scale 8' EXIT
  job=$(submit -N1 -w compute-7 --wrap 'sleep 12')
  wait_job "$job" RUNNING 60
  scale 6
  wait_for 20 "compute-7 draining" node_has_state compute-7 DRAIN
  wait_done "$job" 60
  assert_equal "restarts" 0 "$(job_field "$job" Restarts)"
  wait_for 60 "6 node records" has_node_count 6
  scale 8
  wait_for 20 "8 node records" has_node_count 8
}
