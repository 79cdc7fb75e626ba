# SPDX-License-Identifier: GPL-2.0-or-later
"""What the soak does, drawn from a seed before it begins: the same seed gives the same jobs and faults at the same times."""
import dataclasses
import random

NODES = 8
JOB_EVERY = 12      # seconds, on average
FAULT_EVERY = (2, 9)  # seconds from the planned end of one fault to the next

# Kinds of faults: weight, and the seconds that they last.
FAULTS = {
    "kill slurmctld": (3, None),
    "delete controller pod": (1, None),
    "kill sidecar": (2, None),
    "reconfigure": (3, None),
    "kill kube-apiserver": (3, (0, 20)),
    "stop kube-apiserver": (3, (5, 60)),
    "kill etcd": (2, (0, 10)),
    "stop etcd": (1, (5, 20)),
    "kill kubelet": (2, (0, 20)),
    "stop kubelet": (2, (5, 30)),
    "kill kube-scheduler": (1, (0, 15)),
    "kill kube-controller-manager": (1, (0, 15)),
    "delete pod": (4, None),
    "delete pod by force": (2, None),
    "evict pod": (2, None),
    "kill slurmd": (4, None),
    "power node down": (2, None),
    "power node up": (1, None),
}


@dataclasses.dataclass
class JobEvent:
    at: float
    name: str
    nodes: int
    beats: int
    exclusive: bool
    cancel_after: float  # seconds after its submission; 0: never


@dataclasses.dataclass
class FaultEvent:
    at: float
    kind: str
    seconds: float
    pick: int  # which node or pod: the remainder by how many there are


def draw_jobs(rng, seconds, most, prefix):
    """Jobs of 1 to 8 nodes, small ones more often, up to `seconds`."""
    events, at = [], 0.0
    while len(events) < most:
        at += rng.expovariate(1 / JOB_EVERY)
        if at >= seconds:
            break
        nodes = min(rng.randint(1, NODES), rng.randint(1, NODES))
        cancel = rng.uniform(0, 15) if rng.random() < 0.08 else 0
        events.append(JobEvent(at, f"{prefix}-{len(events)}", nodes, rng.randint(1, 20), rng.random() < 0.5, cancel))
    return events


def draw_faults(rng, seconds):
    """One fault after the other: they don't overlap, but for what each of them leaves behind."""
    kinds = list(FAULTS)
    weights = [FAULTS[kind][0] for kind in kinds]
    events, at = [], 15.0
    while True:
        at += rng.uniform(*FAULT_EVERY)
        kind = rng.choices(kinds, weights)[0]
        span = FAULTS[kind][1]
        lasts = rng.uniform(*span) if span else 0
        if at + lasts >= seconds:
            return events
        events.append(FaultEvent(at, kind, lasts, rng.randrange(1 << 16)))
        at += lasts


def draw(seed, seconds, most_jobs, prefix):
    """The jobs, whose names begin with `prefix`, and the faults."""
    rng = random.Random(seed)
    return draw_jobs(rng, seconds, most_jobs, prefix), draw_faults(rng, seconds)
