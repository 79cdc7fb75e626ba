# SPDX-License-Identifier: GPL-2.0-or-later
"""When each step of a job happened, from slurmctld's log (LogTimeFormat=iso8601_ms, SlurmctldDebug=info)."""
import datetime
import re

LINE = re.compile(r"^\[?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})\]?\s+(.*)")


def seconds(text):
    return datetime.datetime.fromisoformat(text).replace(tzinfo=datetime.timezone.utc).timestamp()


def steps(log, job, start):
    """Seconds after `start` of each step that the log shows; of a step of several nodes, the last node's."""
    marks = {
        "allocated": re.compile(rf"(Allocate|Started) JobId={job}\b"),
        "requested": re.compile(r"slurm-k8s: pod \S+: created for request"),
        "registered": re.compile(r"Node \S+ now responding"),
        "complete": re.compile(rf"Configuration for JobId={job} (is )?complete"),
    }
    found = {}
    for line in log.splitlines():
        match = LINE.match(line)
        if not match or seconds(match[1]) < start - 0.001:
            continue
        for name, mark in marks.items():
            if mark.search(match[2]) and not ("complete" in found and name != "complete"):
                found[name] = seconds(match[1]) - start
    # A job is RUNNING from its allocation on, unless its nodes or its prolog had to be waited for.
    found["running"] = found.pop("complete", found.get("allocated"))
    return found
