# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory, descriptors and threads of slurmctld, the sidecar and slurmd, sampled all along, and their bounds."""
import dataclasses

import world

# Bounds: MiB of resident memory, descriptors, threads. Two to three times what was seen in quiet and in faults.
BOUNDS = {"slurmctld-wlm": (160, 300, 150), "slurm-k8s-sidec": (64, 100, 30), "slurmd": (64, 100, 60)}

# A process is known by its name (Debian's for slurmctld), which the kernel cuts at 15 characters; helpers of the same name are smaller.
SCRIPT = r"""
for process in /proc/[0-9]*; do
  read -r name <$process/comm && [ "$name" = "$0" ] || continue
  memory=0
  while read -r key value rest; do
    case $key in VmRSS:) memory=$value ;; Threads:) threads=$value ;; esac
  done <$process/status
  set -- $process/fd/*
  echo "$memory $# $threads"
done 2>/dev/null | sort -n | tail -n 1
"""


@dataclasses.dataclass
class Usage:
    memory: int = 0       # MiB
    descriptors: int = 0
    threads: int = 0

    def worst(self, other):
        return Usage(max(self.memory, other.memory), max(self.descriptors, other.descriptors),
                     max(self.threads, other.threads))


def read(container, name):
    """Usage of the process `name` in POD/CONTAINER; None when it isn't there now. Away: nobody answered."""
    words = world.bed("fault", "exec", container, "sh", "-c", SCRIPT, name).split()
    return Usage(int(words[0]) // 1024, int(words[1]), int(words[2])) if len(words) == 3 else None


class Sampler:
    def __init__(self):
        self.samples = {name: [] for name in BOUNDS}

    def sample(self, pods):
        """One look at each daemon; slurmd in one of the pods."""
        places = {"slurmctld-wlm": f"{world.CONTROLLER}/slurmctld", "slurm-k8s-sidec": f"{world.CONTROLLER}/sidecar"}
        if pods:
            places["slurmd"] = f"{sorted(pods)[len(self.samples['slurmd']) % len(pods)]}/slurmd"
        for name, container in places.items():
            try:
                usage = read(container, name)
            except (world.Away, ValueError):
                continue
            if usage:
                self.samples[name].append(usage)

    def report(self):
        """A sentence for each daemon, and what is wrong."""
        sentences, wrong = [], []
        for name, bounds in BOUNDS.items():
            worst = Usage()
            for usage in self.samples[name]:
                worst = worst.worst(usage)
            values = dataclasses.astuple(worst)
            text = f"{name}: at most {values[0]} MiB, {values[1]} descriptors, {values[2]} threads in {len(self.samples[name])} samples"
            sentences.append(text)
            if not self.samples[name]:
                wrong.append(f"{name}: never seen")
            if any(value > bound for value, bound in zip(values, bounds)):
                wrong.append(f"{text}; bounds: {bounds[0]} MiB, {bounds[1]}, {bounds[2]}")
        return sentences, wrong
