# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# GNU parallel, from Debian: many sruns at a time on the login pod, and steps of one job.
# Release: clients
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

SQUARES="1 4 9 16 25 36 49 64 81 100 121 144"
# Of lines "NUMBER HOST".
squares() { cut -d ' ' -f 1 <<<"$1" | paste -sd ' '; }
host_count() { cut -d ' ' -f 2 <<<"$1" | grep -x 'compute-[0-7]' | sort -u | wc -l; }

test_jobs_of_parallel() {
  local out
  ada_logs_in
  out=$(ada 'parallel --keep-order --jobs 6 "srun --quiet --ntasks=1 bash -c \"echo \\\$(({} * {})) \\\$(hostname)\"" \
    ::: $(seq 12)' </dev/null)
  assert_equal squares "$SQUARES" "$(squares "$out")"
  (($(host_count "$out") >= 3)) || fail "hosts: $out"
}

test_steps_of_parallel() {
  local out
  ada_logs_in
  ada_file steps.sh <<'END'
#!/bin/bash
parallel --keep-order --jobs "$SLURM_NTASKS" \
  'srun --exact --nodes=1 --ntasks=1 bash -c "echo \$(({} * {})) \$(hostname)"' ::: $(seq 12)
END
  out=$(ada 'sbatch --quiet --wait --nodes=3 --ntasks=3 --output=steps.out --error=steps.err steps.sh; cat steps.out' \
    </dev/null)
  assert_equal squares "$SQUARES" "$(squares "$out")"
  assert_equal "nodes of the job that steps ran on" 3 "$(host_count "$out")"
}
