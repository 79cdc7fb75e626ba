# SPDX-License-Identifier: GPL-2.0-or-later
"""Fake Kubernetes nodes: KWOK reports their pods as running. With a scheduler of their own, since the
default one binds at most 50 pods a second. Runs inside the bed's network; all of it ends with close()."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from cluster import bed, give_up

SCHEDULER = "bench"
PODS_EACH = 200
LABEL = "slurm-k8s-bench"
TOPOLOGY = "slurm-k8s.io/topology"
# Fields of a pod that belongs there.
POD_SPEC = {"schedulerName": SCHEDULER, "nodeSelector": {LABEL: "fake"},
            "tolerations": [{"key": LABEL, "operator": "Exists", "effect": "NoSchedule"}]}
WORKERS = 16


class FakeKubeNodes:
    def __init__(self, api, pods, topologies=()):
        """Room for `pods` pods. Each has one of the topologies, in turn, and each topology has one at least.

        What runs the pods is built: enter_bed("kwok").
        """
        self.api = api
        self.topologies = topologies
        self.processes = []
        self.folder = tempfile.TemporaryDirectory(prefix="slurm-k8s-bench-")
        self.programs = pathlib.Path(bed("path").strip())
        self.remove_nodes()  # of a run that was cut short
        for number in range(max(-(-pods // PODS_EACH), len(topologies))):
            api.call("POST", "/api/v1/nodes", self.node(number))
        self.start_kwok()
        self.start_scheduler()
        self.wait_ready()

    def node(self, number):
        size = {"cpu": "10k", "memory": "10Ti", "pods": str(PODS_EACH)}
        annotations = {LABEL: "fake"}
        if self.topologies:
            annotations[TOPOLOGY] = self.topologies[number % len(self.topologies)]
        return {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": f"fake-{number}", "labels": {LABEL: "fake"}, "annotations": annotations},
                "spec": {"taints": [{"key": LABEL, "value": "fake", "effect": "NoSchedule"}]},
                "status": {"allocatable": size, "capacity": size}}

    def start(self, name, *command):
        log = open(pathlib.Path(self.folder.name) / f"{name}.log", "w")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.processes.append((name, process))

    def start_kwok(self):
        config = {"apiVersion": "config.kwok.x-k8s.io/v1alpha1", "kind": "KwokConfiguration",
                  "options": {"podPlayStageParallelism": WORKERS, "nodePlayStageParallelism": WORKERS}}
        path = pathlib.Path(self.folder.name) / "kwok.yaml"
        path.write_text(json.dumps(config))
        self.start("kwok", self.programs / "kwok", "--config", path, "--kubeconfig", os.environ["KUBECONFIG"],
                   f"--manage-nodes-with-annotation-selector={LABEL}=fake", "--node-lease-duration-seconds=40",
                   "--v=WARN")

    def start_scheduler(self):
        config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                  "leaderElection": {"leaderElect": False}, "profiles": [{"schedulerName": SCHEDULER}],
                  "clientConnection": {"kubeconfig": os.environ["KUBECONFIG"], "qps": 5000, "burst": 5000}}
        path = pathlib.Path(self.folder.name) / "scheduler.yaml"
        path.write_text(json.dumps(config))
        self.start("scheduler", self.programs / "kube-scheduler", "--config", path, "--secure-port=0",
                   "--authentication-skip-lookup")

    def nodes(self):
        return self.api.call("GET", f"/api/v1/nodes?labelSelector={LABEL}")["items"]

    def wait_ready(self):
        deadline = time.monotonic() + 60
        while not all(any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
                      for node in self.nodes()):
            for name, process in self.processes:
                if process.poll() is not None:
                    give_up(f"{name}: ended: {self.log(name)}")
            if time.monotonic() > deadline:
                give_up(f"fake Kubernetes nodes: not ready within 60 s: {self.log('kwok')}")
            time.sleep(0.5)

    def log(self, name):
        return (pathlib.Path(self.folder.name) / f"{name}.log").read_text()[-2000:]

    @contextlib.contextmanager
    def paused(self):
        """Pauses scheduler and KWOK: the API server serves the benchmark's clients alone."""
        for _, process in self.processes:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for _, process in self.processes:
                process.send_signal(signal.SIGCONT)

    def remove_nodes(self):
        self.api.call("DELETE", f"/api/v1/nodes?labelSelector={LABEL}")

    def close(self):
        self.remove_nodes()
        for _, process in self.processes:
            process.terminate()
            process.wait()
        self.folder.cleanup()
