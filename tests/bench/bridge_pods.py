# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods that a bridge schedules: when each is bound, and their end; and other jobs in the queue beside them."""
import threading
import time

from bare_client import BareClient
from cluster import NAMESPACE, bed, say, slurm, wait_for
from emulated_nodes import PODS
from fake_kube_nodes import POD_SPEC, SCHEDULER

WAY = "HTTP/2, 100 at a time"
BRIDGE = "slurm-k8s-bridge"
LABEL = "slurm-k8s-bench-pod"
GROUP_LABEL = "scheduling.x-k8s.io/pod-group"
CPUS = 2  # of a pod, and of a node
QUEUE = r"""
one() { sbatch --hold --job-name=queued --output=/dev/null --wrap true >/dev/null; }
export -f one
seq "$1" | xargs -P 4 -I{} bash -c one
squeue -h -n queued -o %A | wc -l
"""
# Of the creator of pods: the API server queues its requests beside a scheduler's, as a controller's, and not among them.
ACCOUNT = "slurm-k8s-bench"


def bodies(scheduler, name, count, gang=False):
    """Pods that fill a node of CPUS processors each; with `gang` of the PodGroup `name`."""
    labels = {LABEL: name, **({GROUP_LABEL: name} if gang else {})}
    place = {} if scheduler == BRIDGE else {"nodeSelector": POD_SPEC["nodeSelector"]}
    spec = {"schedulerName": scheduler, "tolerations": POD_SPEC["tolerations"], **place,
            "terminationGracePeriodSeconds": 0, "restartPolicy": "Never", "automountServiceAccountToken": False,
            "containers": [{"name": "main", "image": "bench", "resources": {"requests": {"cpu": str(CPUS)}}}]}
    return [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{number}", "labels": labels}, "spec": spec}
            for number in range(count)]


def creator(api):
    """A client that may create pods. Its account goes with the namespace: uninstall()."""
    bed("kubectl", "-n", NAMESPACE, "create", "serviceaccount", ACCOUNT)
    bed("kubectl", "-n", NAMESPACE, "create", "rolebinding", ACCOUNT, "--clusterrole=edit",
        f"--serviceaccount={NAMESPACE}:{ACCOUNT}")
    return BareClient(api, bed("kubectl", "-n", NAMESPACE, "create", "token", ACCOUNT).strip(), PODS)


class Bindings:
    """When each pod was bound, and for which job: by pod."""

    def __init__(self, api, name):
        self.api, self.name = api, name
        self.at, self.jobs = {}, {}
        threading.Thread(target=self.follow, daemon=True).start()

    def follow(self):
        for kind, pod in self.api.watch(PODS, f"{LABEL}={self.name}"):
            name = pod["metadata"]["name"]
            if kind != "DELETED" and pod["spec"].get("nodeName") and name not in self.at:
                self.at[name] = time.time()
                self.jobs[name] = int(pod["metadata"].get("annotations", {}).get("slurm-k8s.io/job-id", 0))


def queue(count):
    """That many jobs wait in Slurm."""
    if count:
        say(f"{slurm(QUEUE, str(count)).strip()} jobs in the queue")


def bound(api, client, name, bodies, seconds=600):
    """Seconds from the first create until all are bound; and the Bindings."""
    bindings = Bindings(api, name)
    start = time.time()
    client.create(WAY, bodies)
    wait_for(f"{len(bodies)} bound pods", seconds, lambda: len(bindings.at) == len(bodies), 0.05)
    return max(bindings.at.values()) - start, bindings


def remove(api, name, running=0):
    api.call("DELETE", f"{PODS}?labelSelector={LABEL}={name}", missing={})
    wait_for("no pod", 300, lambda: not api.call("GET", f"{PODS}?labelSelector={LABEL}={name}&limit=1")["items"])
    wait_for("no job of a pod", 120, lambda: len(slurm("squeue -h -t R,CG,CF -o %A").split()) <= running)
