# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# openapi-python-client, from PyPI: makes a client of what slurmrestd says of itself. It submits a job and sees it end.
# Release: openapi
# shellcheck source=tests/clients/lib.sh
source "$E2E_FOLDER/../clients/lib.sh"

# The chart sets AuthInfo when it has users.
CLIENTS_VALUES=(--set rest.enabled=true --set controller.extraConfMap.AuthInfo=null
  --set-string 'login.users.passwd=ada:x:1001:1001::/home/ada:/bin/bash,login.users.group=ada:x:1001:')

# As docs/user/rest.md has it.
write_fix() {
  ada_file openapi/fix.py <<'END'
import json

description = json.load(open("openapi.json"))
components = description["components"]
for name, schema in components["schemas"].items():
    if name.endswith("_job_info"):
        schema["properties"].pop("job_resources", None)
json.dump(description, open("fixed.json", "w"))
END
}
# Only what /openapi.json has of the newest version of the API, by the names that the generator makes of it.
write_program() {
  ada_file openapi/program.py <<'END'
import importlib
import os
import pkgutil
import re
import time

from made import AuthenticatedClient, models
from made.api import slurm

modules = " ".join(module.name for module in pkgutil.iter_modules(slurm.__path__))
version = max(re.findall(r"slurm_v(\d+)_post_job_submit", modules))

def call(operation, /, *arguments, **named):
    module = importlib.import_module(f"made.api.slurm.slurm_v{version}_{operation}")
    return module.sync(*arguments, client=client, **named)

def model(name, /, **fields):
    return getattr(models, f"V{version}{name}")(**fields)

def states(job):
    return [state.value for state in call("get_job", str(job)).jobs[0].job_state]

def submit(script):
    body = model("JobSubmitReq", job=model(
        "JobDescMsg", name="made", script="#!/bin/sh\n" + script, standard_output="job.out",
        current_working_directory=os.path.expanduser("~/openapi"), environment=["PATH=/usr/bin:/bin"]))
    answer = call("post_job_submit", body=body)
    assert answer.job_id, answer
    return answer.job_id

def wait_for(job, state):
    deadline = time.time() + 150
    while states(job) != [state]:
        assert time.time() < deadline, states(job)
        time.sleep(0.5)

client = AuthenticatedClient("http://slurm-rest:6820", token=os.environ["SLURM_JWT"], prefix="",
                             auth_header_name="X-SLURM-USER-TOKEN", raise_on_unexpected_status=True)
print("version:", version)
job = submit("whoami; hostname")
wait_for(job, "COMPLETED")
found = call("get_job", str(job)).jobs[0]
print("job:", found.name, found.user_name, found.nodes, found.exit_code.return_code.number)
second = submit("sleep 600")
call("delete_job", str(second))
wait_for(second, "CANCELLED")
print("cancelled:", second > job)
END
}

test_a_client_made_of_the_description() {
  local out made
  needs_slurm 24.05
  ada_logs_in
  write_fix
  write_program
  made=$(ada 'cd openapi && export SLURM_JWT=$(scontrol token lifespan=600 | cut -d = -f 2) && rm -rf made job.out &&
    curl -sS --fail -H "X-SLURM-USER-TOKEN: $SLURM_JWT" http://slurm-rest:6820/openapi.json >openapi.json &&
    python fix.py &&
    openapi-python-client generate --path fixed.json --output-path made --meta none >made.log 2>&1 || cat made.log
    python program.py' </dev/null)
  out=$(ada 'cat openapi/job.out' </dev/null)
  [[ $(said version "$made") =~ ^00[4-9][0-9]$ ]] || fail "version: $made"
  [[ $(said job "$made") =~ ^"made ada "compute-[0-7]" 0"$ ]] || fail "the job as the client sees it: $made"
  assert_equal "the job's output" "ada $(said job "$made" | cut -d ' ' -f 3)" "$(paste -sd ' ' <<<"$out")"
  assert_equal "a job that the client cancels" True "$(said cancelled "$made")"
}
