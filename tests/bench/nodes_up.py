# SPDX-License-Identifier: GPL-2.0-or-later
"""Many Slurm nodes that are up and idle: their pods are "run" by KWOK, their slurmds emulated."""
from bare_client import ENGINE_LABEL
from cluster import node_states, slurm, wait_for
from emulated_nodes import PODS, EmulatedNodes

CPUS, MEMORY = 2, 960  # of the chart's default NodeSet: 1Gi less the reserve


class Pods:
    """Of the nodes, which KWOK runs."""

    def __init__(self, api):
        self.api = api

    def running(self):
        """{uid} of the pods that run."""
        pods = self.api.call("GET", f"{PODS}?labelSelector={ENGINE_LABEL}")["items"]
        return {pod["metadata"]["uid"] for pod in pods if pod["status"].get("phase") == "Running"}


def emulate(count):
    nodes = EmulatedNodes()
    for number in range(count):
        nodes.up(f"compute-{number}", CPUS, MEMORY)
    return nodes


def power_up(pods, plugins, count):
    """All nodes are up and idle; without our plugins without pods. Returns the emulator."""
    slurm(f"scontrol update nodename=compute-[0-{count - 1}] state=power_up")
    if plugins:
        wait_for("pods", 600, lambda: len(pods.running()) == count, 2)
    else:
        wait_for("powering up", 60, lambda: not any("~" in one for one in node_states()))
    nodes = emulate(count)
    wait_for("idle nodes", 180, lambda: set(node_states()) == {"idle"}, 1)
    return nodes
