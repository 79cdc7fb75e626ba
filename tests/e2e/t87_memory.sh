# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A job that uses more memory than it has ends as OUT_OF_MEMORY, alone, and isn't requeued; one within its limit goes
# on.

# What a task runs to use that many MiB, and keep them.
eat() {
  local mebibyte='s = "x"; while (length(s) < 1048576) s = s s'
  echo "awk 'BEGIN { $mebibyte; while (i++ < $1) t[i] = s i; system(\"sleep 120\") }'"
}
# A pod of 1 GiB.
on_a_node() { echo "-N1 -n1 -w compute-2"; }
has_ended() { [[ $(job_state "$1") == OUT_OF_MEMORY ]]; }
restarts_of_slurmd() { kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[0].restartCount}'; }
output_of() { kubectl exec compute-2 -c slurmd -- cat "/tmp/memory-$1.out"; }
says_why() { [[ $1 =~ job\ [0-9]+\ uses\ [0-9]+\ MiB.*has\ 100.*OUT_OF_MEMORY ]]; }

test_a_job_over_its_memory_ends_alone() {
  local neighbour job uid out
  # shellcheck disable=SC2046 # words
  neighbour=$(submit $(on_a_node) --mem=100 --wrap "$(runs_until neighbour)")
  wait_job "$neighbour" RUNNING 60
  uid=$(pod_uid compute-2)
  # shellcheck disable=SC2046
  job=$(slurm sbatch --parsable --requeue --output=/tmp/memory-%j.out $(on_a_node) --mem=100 --wrap "$(eat 250)")
  wait_job "$job" OUT_OF_MEMORY 60
  assert_equal "job" "OutOfMemory 0 0:125" \
    "$(job_field "$job" Reason) $(job_field "$job" Restarts) $(job_field "$job" ExitCode)"
  out=$(output_of "$job")
  says_why "$out" || fail "its output: $out"
  stays 3 has_ended "$job"
  is_job_in "$neighbour" RUNNING || fail "its neighbour is $(job_state "$neighbour")"
  end_run compute-2 neighbour
  wait_done "$neighbour" 60
  assert_equal "uid of the pod, restarts" "$uid 0" "$(pod_uid compute-2) $(restarts_of_slurmd compute-2)"
  # shellcheck disable=SC2046
  slurm srun $(on_a_node) --mem=100 true
}

test_a_user_of_srun_sees_why() {
  local out
  # shellcheck disable=SC2046
  out=$(slurm srun $(on_a_node) --mem=100 bash -c "$(eat 250)" 2>&1) && fail "srun succeeded: $out"
  says_why "$out" || fail "srun says: $out"
  [[ $out =~ job\ ([0-9]+) ]]
  wait_job "${BASH_REMATCH[1]}" OUT_OF_MEMORY 30
}

test_the_steps_of_a_job_count_together() {
  local job
  # shellcheck disable=SC2046
  job=$(slurm env EAT="$(eat 70)" sbatch --parsable --output=/dev/null $(on_a_node) --mem=100 \
    --wrap 'srun --overlap bash -c "$EAT" & srun --overlap bash -c "$EAT" & wait')
  wait_job "$job" "OUT_OF_MEMORY COMPLETED FAILED CANCELLED" 60
  assert_equal "job" OUT_OF_MEMORY "$(job_state "$job")"
}

# Nine processes that share 40 MiB: 360, if each were counted in full.
SHARE='x=$(head -c 40M /dev/zero | tr "\0" a)
for i in 1 2 3 4 5 6 7 8; do (for j in 1 2 3 4 5 6; do sleep 1; done) & done
wait'

test_shared_pages_count_once() {
  local job
  # shellcheck disable=SC2046
  job=$(submit $(on_a_node) --mem=150 --wrap "$SHARE")
  wait_job "$job" "COMPLETED OUT_OF_MEMORY FAILED CANCELLED" 60
  assert_equal "job" "COMPLETED 0:0" "$(job_state "$job") $(job_field "$job" ExitCode)"
}
