# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Snakemake with its executor plugin for Slurm, from PyPI: rules as jobs, whose files are in the shared home.
# Release: clients
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

test_snakemake() {
  local out
  ada_logs_in
  ada_file flow/Snakefile <<'END'
rule total:
    input: expand("square/{n}", n=range(4))
    output: "total"
    shell: "awk '{{ sum += $1; print $2 }} END {{ print \"sum\", sum }}' {input} | sort -u >{output}"

rule square:
    output: "square/{n}"
    shell: "echo $(({wildcards.n} * {wildcards.n})) $(hostname) >{output}"
END
  # As docs/user/software.md has it, but for the pause before the first question.
  ada 'cd flow && rm -rf total square .snakemake && snakemake --executor slurm --jobs 4 --slurm-status-command squeue \
    --slurm-no-account --default-resources mem_mb=900 runtime=5 --slurm-init-seconds-before-status-checks 5' </dev/null
  out=$(ada 'cat flow/total' </dev/null)
  assert_equal "sum of squares" "sum 14" "$(tail -n 1 <<<"$out")"
  grep -qx 'compute-[0-7]' <<<"$out" || fail "no rule ran on a node: $out"
}
