# SPDX-License-Identifier: GPL-2.0-or-later
"""The faults of the soak. Each returns when what it broke has been started again; it may not serve yet."""
import subprocess
import time

import world
from world import Away, bed, kubectl, slurm

STATE_FILE = "/var/spool/slurmctld/job_state"
SAVED_WITHIN = 15  # seconds: slurmctld saves its state 5 s after a change


def wait_for(what, seconds, condition):
    deadline = time.monotonic() + seconds
    while True:
        try:
            if condition():
                return
        except Away:
            pass
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(0.3)


def component_is_ready(name):
    bed("fault", "start", name, timeout=200)


def outage(action, name, seconds):
    bed("fault", action, name)
    time.sleep(seconds)  # the fault's own length
    component_is_ready(name)
    if name == "etcd":
        component_is_ready("kube-apiserver")


def saved_since(moment):
    return float(slurm("stat", "-c", "%.9Y", STATE_FILE)) > moment


def end_slurmctld(soak, *command):
    """Only when the last submitted job is saved: before that Slurm itself forgets it."""
    with soak.submitting:
        wait_for("slurmctld's state saved", SAVED_WITHIN, lambda: saved_since(soak.last_submission))
        bed(*command)


def pick_pod(event):
    names = sorted(world.pods())
    return names[event.pick % len(names)] if names else None


def pick_node(event):
    names = sorted(world.nodes())
    return names[event.pick % len(names)]


def hit_pod(event):
    """Returns what was done, or None when there was no pod."""
    pod = pick_pod(event)
    if pod is None:
        return None
    if event.kind == "delete pod":
        kubectl("delete", "pod", pod, "--wait=false")
    elif event.kind == "delete pod by force":
        kubectl("delete", "pod", pod, "--wait=false", "--force", "--grace-period=0")
    elif event.kind == "evict pod":
        body = f'{{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{pod}","namespace":"{world.NAMESPACE}"}}}}'
        path = f"/api/v1/namespaces/{world.NAMESPACE}/pods/{pod}/eviction"
        subprocess.run([world.BED, "kubectl", "create", "--raw", path, "--filename", "-"], input=body, text=True,
                       check=False, timeout=20, capture_output=True)
    else:
        bed("fault", "kill", f"{pod}/slurmd")
    return pod


def inflict(event, soak):
    """Carries a fault out; returns what it hit, for the log. Away: it could not be done."""
    verb, _, name = event.kind.partition(" ")
    if event.kind == "kill slurmctld":
        end_slurmctld(soak, "fault", "kill", f"{world.CONTROLLER}/slurmctld")
    elif event.kind == "delete controller pod":
        end_slurmctld(soak, "kubectl", "-n", world.NAMESPACE, "delete", "pod", world.CONTROLLER, "--wait=false")
    elif event.kind == "kill sidecar":
        bed("fault", "kill", f"{world.CONTROLLER}/sidecar")
    elif event.kind == "reconfigure":
        for _ in range(event.pick % 5 + 1):
            slurm("scontrol", "reconfigure", timeout=40)
    elif name.startswith("kube") or name == "etcd":
        outage(verb, name, event.seconds)
    elif event.kind == "power node down":
        node = pick_node(event)
        slurm("scontrol", "update", f"nodename={node}", "state=power_down_asap")
        return node
    elif event.kind == "power node up":
        node = pick_node(event)
        slurm("scontrol", "update", f"nodename={node}", "state=power_up")
        return node
    else:
        return hit_pod(event) or "no pod there"
    return ""
