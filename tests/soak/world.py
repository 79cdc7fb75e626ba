# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster on the test bed as the fault tests see it: Slurm's jobs and nodes, and the nodes' pods.

slurmctld is asked by way of containerd, so that it can be seen while the API server is away.
"""
import dataclasses
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BED = ROOT / "tests/bed/bed"
NAMESPACE = os.environ.get("BED_NAMESPACE", "slurm")
CONTROLLER = "slurm-controller-0"
LABEL = "slurm-k8s.io/node"


class Away(Exception):
    """The API server or slurmctld does not answer."""


def bed(*words, timeout=20, text_in=""):
    """Standard output of tests/bed/bed WORDS; `text_in` is its standard input."""
    try:
        done = subprocess.run([str(BED), *map(str, words)], text=True, errors="backslashreplace", timeout=timeout,
                              input=text_in, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except subprocess.TimeoutExpired as error:
        raise Away(f"bed {' '.join(map(str, words))}: no answer in {timeout} s") from error
    except OSError as error:  # no further process
        raise Away(f"bed {' '.join(map(str, words))}: {error}") from error
    if done.returncode != 0:
        raise Away(f"bed {' '.join(map(str, words))}: {done.stderr.strip()[-300:]}")
    return done.stdout


def kubectl(*words, timeout=20):
    return bed("kubectl", "--request-timeout=8s", "-n", NAMESPACE, *words, timeout=timeout)


def slurm(*words, timeout=20):
    return bed("fault", "exec", f"{CONTROLLER}/slurmctld", *words, timeout=timeout)


def state_folder():
    """The bed's own folder on this machine."""
    return pathlib.Path(bed("kubeconfig").strip()).parent.parent


@dataclasses.dataclass
class Job:
    id: int
    name: str
    state: str
    reason: str
    restarts: int
    exit_code: str
    nodes: str


@dataclasses.dataclass
class Node:
    name: str
    base: str
    flags: set
    reason: str

    @property
    def is_zero(self):
        """Idle and powered down, with nothing else about it: "idle~"."""
        return self.base == "IDLE" and "POWERED_DOWN" in self.flags and not self.flags & {
            "POWERING_UP", "POWERING_DOWN", "POWER_UP", "DRAIN", "COMPLETING", "NOT_RESPONDING"}

    @property
    def is_wanted(self):
        """Slurm wants a pod for it: it is up or coming up."""
        return "POWERING_UP" in self.flags or not self.flags & {"POWERED_DOWN", "POWERING_DOWN"}

    @property
    def is_bad(self):
        """It does not serve, and isn't on its way."""
        return self.base in ("DOWN", "ERROR", "UNKNOWN") or bool(self.flags & {"DRAIN", "FAIL", "NOT_RESPONDING"} and
                                                                "POWERING_UP" not in self.flags)

    def __str__(self):
        return f"{self.name} {'+'.join([self.base, *sorted(self.flags)])}" + (f" ({self.reason})" if self.reason else "")


@dataclasses.dataclass
class Pod:
    name: str
    uid: str
    phase: str
    deleting: bool


def _field(line, key):
    found = re.search(rf"(?:^| ){key}=(\S*)", line)
    return found.group(1) if found else ""


def expand(hostlist):
    """The names of Slurm's "compute-[0-2,5],login"; nothing for "(null)"."""
    names = set()
    for prefix, ranges, plain in re.findall(r"([\w-]+)\[([\d,-]+)\]|([\w-]+)", hostlist if hostlist != "(null)" else ""):
        if plain:
            names.add(plain)
        for span in filter(None, ranges.split(",")):
            first, _, last = span.partition("-")
            names.update(f"{prefix}{number}" for number in range(int(first), int(last or first) + 1))
    return names


def jobs():
    """{job name: [Job]}; names are ours, and unique."""
    found = {}
    for line in slurm("scontrol", "show", "jobs", "-o").splitlines():
        if not line.startswith("JobId="):
            continue
        job = Job(int(_field(line, "JobId")), _field(line, "JobName"), _field(line, "JobState"), _field(line, "Reason"),
                  int(_field(line, "Restarts") or 0), _field(line, "ExitCode"), _field(line, "NodeList"))
        found.setdefault(job.name, []).append(job)
    return found


def nodes():
    """{node name: Node}."""
    found = {}
    for line in slurm("scontrol", "show", "nodes", "-o").splitlines():
        if not line.startswith("NodeName="):
            continue
        base, *flags = _field(line, "State").rstrip("*").split("+")
        reason = re.search(r" Reason=(.*?)(?: \[|$)", line)
        name = _field(line, "NodeName")
        found[name] = Node(name, base, set(flags) - {"CLOUD", "DYNAMIC_NORM"}, reason.group(1) if reason else "")
    return found


def pods():
    """{node name: Pod}."""
    found = {}
    for item in json.loads(kubectl("get", "pods", "-l", LABEL, "-o", "json"))["items"]:
        metadata = item["metadata"]
        found[metadata["name"]] = Pod(metadata["name"], metadata["uid"], item["status"].get("phase", ""),
                                      "deletionTimestamp" in metadata)
    return found


def orphans(nodes_now, pods_now):
    """Names of the pods that Slurm doesn't want."""
    return {name for name in pods_now if name not in nodes_now or not nodes_now[name].is_wanted}
