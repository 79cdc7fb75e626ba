# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm nodes without slurmd: the emulator, in slurmctld's container, and what tells it which pods run."""
import subprocess
import threading
import time

from cluster import CONTROLLER, NAMESPACE, ROOT, give_up

SOURCES = ROOT / "tests/bench/slurmd_emulator"
PROGRAM = ROOT / "build/bench/slurmd-emulator"
IN_POD = "/tmp/slurmd-emulator"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
# Slurm's credentials are for SlurmdUser, and the emulator runs as slurmctld's user.
SLURM_CONF = "SlurmdUser=slurm"


def build():
    sources = sorted(SOURCES.glob("*.cc"))
    newest = max(path.stat().st_mtime for path in [*sources, *SOURCES.glob("*.hpp")])
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > newest:
        return
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-pthread", *sources, "-o", PROGRAM, "-ldl"],
                   check=True)


class EmulatedNodes:
    """Starts the emulator. Its events are in `events`, as (seconds since the epoch, name, subject)."""

    def __init__(self, job_ms=0):
        build()
        into = ["kubectl", "exec", "-i", "-n", NAMESPACE, CONTROLLER, "-c", "slurmctld", "--"]
        with open(PROGRAM, "rb") as program:
            # By way of another name: one of a run that was cut short may still be executing.
            place = 'cat > "$1.new" && chmod 755 "$1.new" && mv "$1.new" "$1"'
            subprocess.run([*into, "sh", "-c", place, "sh", IN_POD], stdin=program, check=True)
        self.events = []
        self.summary = ""
        self.mutex = threading.Lock()
        self.process = subprocess.Popen([*into, IN_POD, "--job-ms", str(job_ms)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        if self.process.stdout.readline().strip() != "ready":
            give_up("the emulator did not start")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            words = line.split(maxsplit=2)
            if len(words) == 3 and words[0][0].isdigit():
                self.events.append((float(words[0]), words[1], words[2].strip()))
            else:
                self.summary = line.strip()

    def tell(self, line):
        with self.mutex:
            if self.process.stdin.closed:  # the watch of pods goes on to the end
                return
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def up(self, name, cpus, memory):
        self.tell(f"up {name} {cpus} {memory}")

    def down(self, name):
        self.tell(f"down {name}")

    def of(self, event, since=0.0):
        return [entry for entry in self.events if entry[1] == event and entry[0] >= since]

    def close(self):
        """Ends it, and returns its counts."""
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.reader.join(5)
        return self.summary


class PodFeeder:
    """Lets the emulator know of pods that run and end. Keeps which are there, and when one last went."""

    def __init__(self, api, nodes, cpus, memory):
        self.api, self.nodes, self.cpus, self.memory = api, nodes, cpus, memory
        self.running = {}  # uid: name
        self.ended_at = 0.0
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for kind, pod in self.api.watch(PODS, "slurm-k8s.io/node"):
            name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
            if kind == "DELETED" and self.running.pop(uid, None):
                self.ended_at = time.time()
                self.nodes.down(name)
            elif kind != "DELETED" and uid not in self.running and pod["status"].get("phase") == "Running":
                self.running[uid] = name
                self.nodes.up(name, self.cpus, self.memory)
