# SPDX-License-Identifier: GPL-2.0-or-later
"""What was done to each job: the faults that hit its own nodes, or the slurmctld that had it. By that it is judged, not by
the moment at which it ran."""
import re

import world

# slurmctld's log: job id, nodes.
ALLOCATED = re.compile(r"JobId=(\d+)\S* NodeList=(\S+)|Started JobId=(\d+)\S* in \S+ on (\S+)")
LATE = 10         # seconds after a fault in which a job may still begin on what it took away
IN_FLIGHT = 3     # seconds that the news of a script's end may take
SAVED_BEFORE = 1  # seconds that Slurm's state may be older than its file
UNSAVED = 15      # seconds after which slurmctld has saved what it heard (SAVE_MAX_WAIT is 5), on a slow disk too


class Evidence:
    def __init__(self):
        self.hits = []   # faults.Hit
        self.nodes = {}  # job id -> names of all nodes that it ever had

    def has_nodes(self, job, hostlist):
        self.nodes.setdefault(job, set()).update(world.expand(hostlist))

    def read_log(self, path):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            match = ALLOCATED.search(line)
            if match:
                self.has_nodes(int(match[1] or match[3]), match[2] or match[4])

    def restarts(self, job, begin, end):
        """Most restarts that a job can have which slurmctld had from `begin` to `end`: one for each fault that took one
        of its nodes, or its slurmctld, away."""
        mine = self.nodes.get(job, set())
        return sum(begin <= hit.begin <= end + LATE and (hit.slurmctld or hit.node in mine) for hit in self.hits)

    def forgotten(self):
        """Spans of what slurmctld heard and did not save before it was killed. A file that was not written for longer
        has missed nothing: nothing had changed."""
        return [(max(hit.saved - SAVED_BEFORE, hit.begin - UNSAVED), hit.begin + 1) for hit in self.hits if hit.saved]

    def unheard(self, run):
        """Whether the end of a run may have been lost: the pod of its script was taken away before it could be told, or
        while there was no slurmctld to tell."""
        heard = run.last
        for hit in self.hits:
            if hit.slurmctld and hit.begin <= run.last <= hit.back:
                heard = max(heard, hit.back)
        return any(hit.node == run.node and run.last - 1 <= hit.begin <= heard + IN_FLIGHT for hit in self.hits)
