# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs on a cluster that has no pod: sbatch, srun and salloc make their nodes.

test_one_node() {
  local job
  job=$(submit -N1 --wrap 'srun hostname')
  wait_done "$job" 60
}

test_four_nodes_run_in_their_own_pods() {
  local job
  # The job checks itself: four different hosts, each the Slurm node of that name.
  job=$(submit -N4 --wrap 'test "$(srun -l hostname | sort -u | wc -l)" = 4 &&
    srun bash -c "test \$(hostname) = \$SLURMD_NODENAME"')
  wait_done "$job" 60
}

test_exactly_the_asked_nodes_get_pods() {
  local job
  job=$(submit -N2 -w 'compute-[3,5]' --wrap 'sleep 600')
  wait_job "$job" RUNNING 60
  assert_equal "pods" "compute-3 compute-5" "$(pods | paste -sd' ' -)"
  assert_equal "label nodeset" "compute compute" \
    "$(kubectl get pods -l slurm-k8s.io/node -o jsonpath='{.items[*].metadata.labels.slurm-k8s\.io/nodeset}')"
  assert_equal "label node" "compute-3 compute-5" \
    "$(kubectl get pods -l slurm-k8s.io/node -o jsonpath='{.items[*].metadata.labels.slurm-k8s\.io/node}')"
  slurm scancel "$job"
}

# R7: srun at once.
test_srun_from_zero() {
  local out
  out=$(slurm srun -N2 hostname | sort | paste -sd' ' -)
  assert_equal "srun" "compute-0 compute-1" "$out"
}

test_salloc_from_zero() {
  local out
  out=$(slurm salloc -N2 bash -c 'srun hostname' 2>/dev/null | sort | paste -sd' ' -)
  assert_equal "salloc" "compute-0 compute-1" "$out"
}

test_two_jobs_at_once() {
  local first second
  first=$(submit -N2 --exclusive --wrap 'srun sleep 2')
  second=$(submit -N3 --exclusive --wrap 'srun sleep 2')
  wait_done "$first" 60
  wait_done "$second" 60
  assert_equal "nodes in common" "" "$(comm -12 <(job_nodes "$first" | sort) <(job_nodes "$second" | sort))"
}

test_array_of_20() {
  local job
  job=$(submit --array=1-20 --exclusive --wrap 'true')
  array_done() { [[ $(slurm scontrol show job "$job" -o | grep -c 'JobState=COMPLETED') == 20 ]]; }
  wait_for 120 "20 tasks of job $job completed" array_done
}

# slurmctld's own check comes every 30 s. Without the plugin one job in three is launched by it within ten seconds of
# its last pod, and at least five of six are in one of fifty runs.
test_the_hook_launches_at_once() {
  local job node start took=() late=0
  for node in compute-{0..5}; do
    start=$(now_ms)
    job=$(submit -N1 -w "$node" --wrap 'true')
    wait_done "$job" 60
    took+=($(($(now_ms) - start)))
    ((took[-1] < 15000)) || late=$((late + 1))
  done
  ((late <= 1)) || fail "$late of 6 jobs were late: ${took[*]} ms" # once the machine may have stalled
  echo "# ms from the submission to the end of each: ${took[*]}" >&2
}
