# SPDX-License-Identifier: GPL-2.0-or-later
"""Real slurmds for node pods that KWOK only says are running, whatever Slurm's release: a copy of each pod, on the
bed's own Kubernetes node."""
from bare_client import posted_body
from cluster import say, wait_for
from emulated_nodes import PODS

LABEL = "slurm-k8s-bench-slurmd"
NODE_LABEL = "slurm-k8s.io/node"
REQUESTS = {"cpu": "1m", "memory": "16Mi"}  # one machine has them all
# What the kubelet tells a container about its pod: of the copy it must be told about the original.
FIELDS = {"metadata.name": lambda pod: pod["metadata"]["name"],
          "metadata.uid": lambda pod: pod["metadata"]["uid"],
          "spec.nodeName": lambda pod: pod["spec"]["nodeName"]}


def literal(variable, pod):
    path = variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath")
    return {"name": variable["name"], "value": FIELDS[path](pod)} if path in FIELDS else variable


def copy(pod):
    body = posted_body(pod)
    name, spec = pod["metadata"]["name"], body["spec"]
    body["metadata"] = {"name": f"slurmd-{name}", "labels": {LABEL: "slurmd"}}
    for field in ("nodeSelector", "schedulerName", "tolerations"):
        spec.pop(field, None)
    spec.update(hostname=name, terminationGracePeriodSeconds=1)
    for container in spec["containers"]:
        container["env"] = [literal(variable, pod) for variable in container.get("env", [])]
        container.setdefault("resources", {})["requests"] = REQUESTS
    return body


def start_slurmds(api, count):
    """A slurmd for each node pod. Their pods end with the namespace."""
    def running():
        pods = api.call("GET", f"{PODS}?labelSelector={NODE_LABEL}")["items"]
        return [pod for pod in pods if pod["status"].get("phase") == "Running"]

    wait_for(f"{count} node pods", 120, lambda: len(running()) == count, 1)
    for pod in running():
        api.call("POST", PODS, copy(pod))
    say(f"{count} slurmds")
