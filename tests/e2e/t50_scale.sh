# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kubectl scale changes how many nodes Slurm has.

status_replicas() { [[ $(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.status.replicas}') == "$1" ]]; }

# R7: scale.
test_8_12_6_and_back() {
  local job
  trap 'scale 8; install_release' EXIT
  install_release --set slurm.suspendTime=300 # idle nodes stay up
  scale 12
  wait_for "12 node records" has_node_count 12
  wait_for "status.replicas 12" status_replicas 12
  job=$(submit -N2 -w 'compute-[10,11]' --wrap 'srun hostname')
  wait_done "$job" 60
  scale 6
  # The two nodes that are up stay: six that are powered down go.
  wait_for "6 node records" has_node_count 6
  assert_equal "nodes" 'compute-[0-3,10-11]' "$(node_names)"
  wait_for "status.replicas 6" status_replicas 6
  if slurm sbatch -N1 -w compute-7 --wrap true >/dev/null 2>&1; then fail "a job for a removed node was taken"; fi
  scale 0
  wait_for 60 "no node records" has_node_count 0
  wait_for "status.replicas 0" status_replicas 0
  wait_for "no pods" has_pod_count 0
  scale 8
  wait_for "8 node records" has_node_count 8
  assert_equal "nodes" 'compute-[0-7]' "$(node_names)"
}
