# SPDX-License-Identifier: GPL-2.0-or-later
"""What was done to each job: the faults that hit its own nodes, or the slurmctld that had it. By that it is judged, not by
the moment at which it ran."""
import datetime
import re

import faults
import world

# slurmctld's log: job id, nodes.
ALLOCATED = re.compile(r"JobId=(\d+)\S* NodeList=(\S+)|Started JobId=(\d+)\S* in \S+ on (\S+)")
TIME = re.compile(r"\[(\d{4}-\S+?)\]")
HEARD = re.compile(r"_job_complete: JobId=(\d+)\S* W(?:EXITSTATUS|TERMSIG)")
# A node that did not come up, or whose pod did not go, in time: what outages of Kubernetes do.
GIVEN_UP = re.compile(r"node (\S+) not resumed by ResumeTimeout|"
                      r"setting admin_comment to slurm-k8s: node (\S+): pod still terminating")
LATE = 10         # seconds after a fault in which a job may still begin on what it took away
IN_FLIGHT = 3     # seconds that the news of a script's end may take
SAVED_BEFORE = 1  # seconds that Slurm's state may be older than its file
RESUME_TIMEOUT = 90  # tests/e2e/values.yaml
UNSAVED = 15      # seconds after which slurmctld has saved what it heard (SAVE_MAX_WAIT is 5), on a slow disk too


class Evidence:
    def __init__(self):
        self.hits = []   # faults.Hit
        self.nodes = {}  # job id -> names of all nodes that it ever had
        self.ends = {}   # job id -> when slurmctld heard of an end of its script
        self.given_up = set()  # (second, node)

    def has_nodes(self, job, hostlist):
        self.nodes.setdefault(job, set()).update(world.expand(hostlist))

    def read_log(self, path):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            match = ALLOCATED.search(line)
            if match:
                self.has_nodes(int(match[1] or match[3]), match[2] or match[4])
            stamp = TIME.match(line)
            if not stamp:
                continue
            at = datetime.datetime.fromisoformat(stamp[1]).replace(tzinfo=datetime.timezone.utc).timestamp()
            if heard := HEARD.search(line):
                self.ends.setdefault(int(heard[1]), []).append(at)
            if given_up := GIVEN_UP.search(line):
                self.given_up.update((int(at), node) for node in world.expand(given_up[1] or given_up[2]))

    def restarts(self, job, begin, end):
        """Most restarts that a job can have which slurmctld had from `begin` to `end`: one for each fault that took one
        of its nodes, or its slurmctld, away, and for each node that was given up in or after an outage of Kubernetes."""
        mine = self.nodes.get(job, set())
        taken = sum(begin <= hit.begin <= end + LATE and (hit.slurmctld or hit.node in mine) for hit in self.hits)
        lost = {at for at, node in self.given_up
                if node in mine and begin <= at <= end + LATE and self._is_after_outage(at)}
        return taken + len(lost)

    def _is_after_outage(self, moment):
        return any(hit.begin <= moment <= max(hit.begin, hit.back) + RESUME_TIMEOUT
                   for hit in self.hits if faults.is_outage(hit.kind))

    def heard(self, run):
        """When slurmctld heard of the end of a run, by its log; when it ended if it did not. slurmstepd repeats what no
        slurmctld takes every 15 s (RETRY_DELAY in slurmd's mgr.c)."""
        return min((at for at in self.ends.get(run.job, ()) if at >= run.last - 1), default=run.last)

    def forgotten(self):
        """Spans of what slurmctld heard and did not save before it was killed. A file that was not written for longer
        has missed nothing: nothing had changed."""
        return [(max(hit.saved - SAVED_BEFORE, hit.begin - UNSAVED), hit.begin + 1) for hit in self.hits if hit.saved]

    def unheard(self, run):
        """Whether the end of a run may have been lost: the pod of its script was taken away before it could be told, or
        while there was no slurmctld to tell."""
        heard = self.heard(run)
        for hit in self.hits:
            if hit.slurmctld and hit.begin <= run.last <= hit.back:
                heard = max(heard, hit.back)
        return any(hit.node == run.node and run.last - 1 <= hit.begin <= heard + IN_FLIGHT for hit in self.hits)
