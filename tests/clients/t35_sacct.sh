# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# submitit and Snakemake with accounting: they ask sacct how a job ended.
# Release: clients-sacct
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

# shellcheck disable=SC2034 # lib.sh uses it
CLIENTS_VALUES=(--set accounting.enabled=true --set accounting.mariadb.resources.requests.memory=64Mi)

# Without accounting this program waits for ever.
test_submitit_sees_a_cancelled_job() {
  local out
  ada_logs_in
  ada_file cancelled.py <<'END'
import subprocess
import time
import submitit

executor = submitit.AutoExecutor(folder="submitit")
executor.update_parameters(timeout_min=5)
job = executor.submit(time.sleep, 300)
while job.state != "RUNNING":
    time.sleep(1)
subprocess.run(["scancel", job.job_id], check=True)
while not job.done(force_check=True):
    time.sleep(1)
print("state:", job.state.split()[0])
END
  out=$(ada 'python cancelled.py' </dev/null)
  assert_equal "state of the job" CANCELLED "$(said state "$out")"
}

# As its documentation has it: without --slurm-status-command.
test_snakemake_asks_sacct() {
  local out
  ada_logs_in
  ada_file flow/Snakefile <<'END'
rule all:
    input: "a", "b"

rule one:
    output: "{n}"
    wildcard_constraints: n="[ab]"
    shell: "hostname >{output}"
END
  ada 'cd flow && rm -rf a b .snakemake && snakemake --executor slurm --jobs 2 --slurm-no-account \
    --default-resources mem_mb=900 runtime=5 --slurm-init-seconds-before-status-checks 5' </dev/null
  out=$(ada 'cat flow/a flow/b' </dev/null)
  assert_equal "rules that ran on a node" 2 "$(grep -cx 'compute-[0-7]' <<<"$out")"
}
