# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs that the cluster can't run make no pod.

test_a_job_larger_than_the_cluster() {
  local out job
  if out=$(slurm sbatch -N99 --wrap true 2>&1); then
    # After a restart Slurm 22.05 compares it with the partition's CPUs first, for which it lets jobs wait.
    is_slurm_before 23.11 || fail "taken: $out"
    job=${out##* }
    assert_equal "reason" PartitionConfig "$(job_field "$job" Reason)"
    slurm scancel "$job"
  else
    [[ $out == *"Requested node configuration is not available"* ]] || fail "refused otherwise: $out"
  fi
  assert_equal "pods" 0 "$(pod_count)"
}

test_more_memory_than_a_node_has() {
  if slurm sbatch -N1 --mem=100G --wrap true >/dev/null 2>&1; then fail "taken"; fi
  assert_equal "pods" 0 "$(pod_count)"
}

test_an_unknown_feature() {
  if slurm sbatch -N1 --constraint=nosuch --wrap true >/dev/null 2>&1; then fail "taken"; fi
  assert_equal "pods" 0 "$(pod_count)"
}

test_the_nodeset_is_a_feature() {
  local job
  job=$(submit -N1 --constraint=compute --wrap true)
  wait_done "$job" 60
}
