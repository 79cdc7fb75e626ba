# SPDX-License-Identifier: GPL-2.0-or-later
"""slurm-bridge of SchedMD, as processes beside the bed's API server: scheduler and controllers, set as in its chart.
Its admission webhook is left out: pods have the schedulerName and the toleration themselves."""
import json
import os
import pathlib
import subprocess
import tempfile

from cluster import NAMESPACE, bed, give_up, slurm

SCHEDULER = "slurm-bridge-scheduler"
PARTITION = "slurm-bridge"
NODE_LABEL = "scheduler.slinky.slurm.net/external-node"
NODE_PARTITIONS = "scheduler.slinky.slurm.net/external-node-partitions"
TOLERATION = {"key": "slinky.slurm.net/managed-node", "operator": "Exists"}
# Its documentation asks for these (mcs/label: pods share no node with other jobs), but for MinJobAge: the list of all
# jobs, which it reads for each pod, is to be short at the beginning of each run.
SLURM_CONF = f"""MCSPlugin=mcs/label
MCSParameters=ondemand,ondemandselect
MinJobAge=2
NodeSet={PARTITION} Feature={PARTITION}
PartitionName={PARTITION} Nodes={PARTITION} State=UP Default=NO"""
GATES = "DRAExtendedResource=true,DynamicResourceAllocation=true,SchedulerPopFromBackoffQ=false"
PLUGINS = {"queueSort": ["PrioritySort"], "preEnqueue": ["SlurmBridge"],
           "preFilter": ["VolumeBinding", "NodeResourcesFit", "SlurmBridge"],
           "filter": ["VolumeBinding", "TaintToleration", "NodeResourcesFit", "SlurmBridge"],
           "postFilter": ["SlurmBridge"], "reserve": ["VolumeBinding"], "preBind": ["VolumeBinding", "SlurmBridge"],
           "bind": ["DefaultBinder"]}
# Where its scheduler looks for the second time; the first place is in /etc.
CONFIG = pathlib.Path("/tmp/config.yaml.debug")


class SlurmBridge:
    def __init__(self, programs):
        """`programs`: the folder with slurm-bridge-scheduler and slurm-bridge-controllers."""
        self.programs = pathlib.Path(programs)
        self.folder = tempfile.TemporaryDirectory(prefix="slurm-k8s-bench-")
        self.processes = []
        address = bed("kubectl", "-n", NAMESPACE, "get", "service", "slurm-rest", "-o", "jsonpath={.spec.clusterIP}")
        CONFIG.write_text(json.dumps({"schedulerName": SCHEDULER, "slurmRestApi": f"http://{address}:6820",
                                      "managedNamespaces": [NAMESPACE], "mcsLabel": "kubernetes",
                                      "partition": PARTITION}))
        token = slurm("scontrol token username=slurm lifespan=86400").strip().removeprefix("SLURM_JWT=")
        file = pathlib.Path(self.folder.name) / "token"
        file.write_text(token)
        # The release 1.2 has the variable, later ones the file.
        self.environment = {**os.environ, "SLURM_JWT": token, "SLURM_JWT_FILE": str(file)}

    def scheduler_config(self):
        plugins = {point: {"enabled": [{"name": name} for name in names]} for point, names in PLUGINS.items()}
        plugins["multiPoint"] = {"disabled": [{"name": "*"}]}
        path = pathlib.Path(self.folder.name) / "scheduler.yaml"
        path.write_text(json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            # As the yardstick kube-scheduler has it; its chart leaves the default of 50 a second.
            "clientConnection": {"kubeconfig": os.environ["KUBECONFIG"], "qps": 5000, "burst": 5000},
            "profiles": [{"schedulerName": SCHEDULER, "plugins": plugins, "pluginConfig": [{"name": "SlurmBridge"}]}]}))
        return path

    def start(self):
        self.run("controllers", "-config", CONFIG, "-metrics-bind-address", "0", "-health-probe-bind-address", "0")
        self.run("scheduler", "--config", self.scheduler_config(), f"--feature-gates={GATES}", "--secure-port=0",
                 "--authentication-skip-lookup")

    def run(self, name, *options):
        log = open(pathlib.Path(self.folder.name) / f"{name}.log", "w")
        self.processes.append((name, subprocess.Popen([self.programs / f"slurm-bridge-{name}", *options], stdout=log,
                                                      stdin=subprocess.DEVNULL, stderr=log, env=self.environment)))

    def log(self, name):
        return (pathlib.Path(self.folder.name) / f"{name}.log").read_text()[-3000:]

    def check(self):
        for name, process in self.processes:
            if process.poll() is not None:
                give_up(f"slurm-bridge's {name} ended: {self.log(name)}")

    def idle_nodes(self):
        self.check()
        return sum(int(line) for line in slurm(f"sinfo -h -p {PARTITION} -t idle -o %D").split())

    @staticmethod
    def release_pods():
        """Takes its finalizer off the pods that are left: nobody else does, and their namespace would not go."""
        pods = json.loads(bed("kubectl", "-n", NAMESPACE, "get", "pods", "-o", "json"))["items"]
        for pod in pods:
            if pod["spec"].get("schedulerName") == SCHEDULER and pod["metadata"].get("finalizers"):
                bed("kubectl", "-n", NAMESPACE, "patch", "pod", pod["metadata"]["name"], "--type=merge",
                    "--patch", '{"metadata": {"finalizers": null}}')

    def close(self):
        for _, process in self.processes:
            process.terminate()
            process.wait()
        CONFIG.unlink(missing_ok=True)
        self.folder.cleanup()
        self.release_pods()
