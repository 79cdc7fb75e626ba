# SPDX-License-Identifier: GPL-2.0-or-later
"""What every benchmark has: the bed's tools, the chart, waiting with a deadline, results that are kept as they come."""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
BED = ROOT / "tests/bed/bed"
NAMESPACE = os.environ.get("BED_NAMESPACE", "slurm")
CONTROLLER = "slurm-controller-0"
# A cluster of thousands of nodes needs more than the chart's default: with a tenth of a processor requested, slurmctld
# is served last on a busy machine.
LARGE = {"resources": {"requests": {"cpu": "1", "memory": "512Mi"}, "limits": {"memory": "4Gi"}}}


def enter_bed(*programs):
    """Starts the program again inside the bed's network, unless it is there: the API server is only reached from it.

    `programs`: of the bed, which are built before. From inside its network none can be fetched.
    """
    if "KUBECONFIG" not in os.environ:
        for program in programs:
            subprocess.run([str(BED), "build", program], check=True)
        os.execv(BED, [str(BED), "exec", *sys.argv])
    join_bed()
    signal.signal(signal.SIGTERM, lambda *_: give_up("terminated"))  # what was started is ended on the way out


def join_bed():
    """Into the cgroup of the bed's daemons: outside of it one process weighs as much as the whole bed."""
    for pattern in ("slurm-k8s-bed/daemons", "*/slurm-k8s-bed/daemons"):  # cgroup version 2 and 1
        for group in pathlib.Path("/sys/fs/cgroup").glob(pattern):
            (group / "cgroup.procs").write_text(str(os.getpid()))


def bed(*words, **options):
    return subprocess.run([str(BED), *words], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def slurm(script, *words):
    """Runs a bash script in slurmctld's container."""
    return bed("slurm", "bash", "-c", script, "bash", *words)


RECONFIGURE = r"""
begin=$(date +%s%N); scontrol reconfigure; scontrol show partition >/dev/null; echo $((($(date +%s%N) - begin) / 1000))
"""


def reconfigure():
    """Seconds from `scontrol reconfigure` until slurmctld's next answer."""
    return int(slurm(RECONFIGURE)) / 1e6


def say(text):
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def give_up(text):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {text}")


def wait_for(what, seconds, condition, interval=0.3):
    deadline = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except subprocess.CalledProcessError:
            pass  # the controller is restarting
        if time.monotonic() > deadline:
            give_up(f"not within {seconds} s: {what}")
        time.sleep(interval)


def slurmctld_memory():
    """MiB of slurmctld that are resident."""
    return float(slurm(r"awk '/^VmRSS/ {print $2 / 1024}' /proc/$(cat /run/slurmctld.pid)/status"))


def kubeconfig():
    return json.loads(bed("kubectl", "config", "view", "--raw", "-o", "json"))


def install(*options, values=None, nodes=8, namespace=NAMESPACE):
    """Installs the chart, or changes the release; `values` go over those of the e2e tests."""
    # Helm makes a CRD, but doesn't change one that is there.
    bed("kubectl", "apply", "--server-side", "--force-conflicts", "-f", str(ROOT / "helm/slurm/crds"))
    helm_upgrade(*options, values=values, namespace=namespace)
    wait_for(f"{nodes} nodes", 120, lambda: node_count() == nodes)


def helm_upgrade(*options, values=None, namespace=NAMESPACE):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(values or {}, file)  # JSON is YAML
        file.flush()
        bed("helm", "upgrade", "--install", "slurm", str(ROOT / "helm/slurm"), "-n", namespace, "--create-namespace",
            "-f", str(ROOT / "tests/e2e/values.yaml"), "-f", file.name, "--set", f"images.tag={bed('image', 'tag').strip()}",
            *options, "--wait", "--timeout", "180s")


def uninstall():
    """Removes the release with all that it keeps by itself: key, slurmctld's saved state, pods of nodes."""
    bed("helm", "uninstall", "slurm", "-n", NAMESPACE, "--ignore-not-found", "--wait")
    bed("kubectl", "delete", "namespace", NAMESPACE, "--ignore-not-found", "--wait", "--timeout=180s")
    bed("volume", "reset")


def node_count():
    return int(slurm("sinfo -h -N -o %N | sort -u | wc -l"))


def node_states():
    """{compact state: number of nodes}"""
    states = {}
    for line in slurm("sinfo -h -o '%t %D'").splitlines():
        state, count = line.split()
        states[state] = states.get(state, 0) + int(count)
    return states


def in_turn(number, first, second):
    """Both; the order alternates from one number to the next."""
    for measure in (first, second) if number % 2 == 0 else (second, first):
        measure()


class ControllerLog:
    """slurmctld's log from now on. It is read when it is asked for: to follow it takes a second of the processors for
    each thousand lines, from what is measured."""

    def __init__(self):
        self.since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def text(self):
        return bed("kubectl", "-n", NAMESPACE, "logs", f"--since-time={self.since}", CONTROLLER, "-c", "slurmctld")


class Results:
    """Single values by name, in a file (if any) after each one: a long run may be cut short."""

    def __init__(self, path):
        self.path = path
        self.values = {}

    def add(self, name, value):
        self.values.setdefault(name, []).append(value)
        if self.path:
            pathlib.Path(self.path).write_text(json.dumps(self.values, indent=1))

    def median(self, name):
        values = self.values.get(name)
        return statistics.median(values) if values else float("nan")

    def spread(self, name):
        values = self.values.get(name, [])
        return f"{min(values):.2f} to {max(values):.2f}, n={len(values)}" if values else "n=0"

    def print_all(self):
        for name, values in self.values.items():
            print(f"{name}, all runs: {', '.join(f'{value:.4g}' for value in values)}")
