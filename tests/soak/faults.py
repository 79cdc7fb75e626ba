# SPDX-License-Identifier: GPL-2.0-or-later
"""The faults of the soak. Each returns when what it broke has been started again; it may not serve yet."""
import dataclasses
import time

import world
from world import Away, bed, kubectl, slurm

STATE_FILE = "/var/spool/slurmctld/job_state"
SAVED_WITHIN = 30  # seconds: slurmctld saves its state 5 s after a change
POD_WITHIN = 8     # seconds that a fault of a pod waits for one


@dataclasses.dataclass
class Hit:
    """A fault that hit something. Times are seconds since 1970."""
    kind: str
    begin: float
    what: str = ""           # for the log
    node: str = ""           # whose pod, and so all that ran there, was taken away
    slurmctld: bool = False  # it was ended: jobs that it had may begin once more
    saved: float = 0         # when it was killed: what it heard since then it forgot
    back: float = 0          # when slurmctld answered again


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


def is_saved(name):
    slurm("grep", "-qF", name, STATE_FILE)  # Away when it isn't
    return True


def saved_at():
    return float(slurm("stat", "-c", "%.9Y", STATE_FILE))


def end_slurmctld(soak, hit, *command):
    """Only when the last submitted job is saved: before that Slurm itself forgets it."""
    with soak.submitting:
        if soak.last_submitted:
            wait_for("slurmctld's state saved", SAVED_WITHIN, lambda: is_saved(soak.last_submitted))
        hit.saved = saved_at()
        hit.begin = time.time()
        hit.slurmctld = True
        bed(*command)


def pick_pod(event):
    """The name of a pod, or None when there is none for some seconds."""
    names = []

    def is_any():
        names.extend(sorted(world.pods()))
        return bool(names)
    try:
        wait_for("a pod", POD_WITHIN, is_any)
    except TimeoutError:
        return None
    return names[event.pick % len(names)]


def pick_node(event):
    names = sorted(world.nodes())
    return names[event.pick % len(names)]


def evict(pod):
    """False when the disruption budget refuses, as it does while a job runs there."""
    body = f'{{"apiVersion":"policy/v1","kind":"Eviction","metadata":{{"name":"{pod}","namespace":"{world.NAMESPACE}"}}}}'
    path = f"/api/v1/namespaces/{world.NAMESPACE}/pods/{pod}/eviction"
    try:
        bed("kubectl", "create", "--raw", path, "--filename", "-", text_in=body)
    except Away as error:
        if "disruption budget" in str(error):
            return False
        raise
    return True


def hit_pod(event, hit):
    pod = pick_pod(event)
    if pod is None:
        return False
    hit.begin = time.time()
    hit.what = hit.node = pod  # pods are named after their nodes
    if event.kind == "delete pod":
        kubectl("delete", "pod", pod, "--wait=false")
    elif event.kind == "delete pod by force":
        kubectl("delete", "pod", pod, "--wait=false", "--force", "--grace-period=0")
    elif event.kind == "evict pod":
        return evict(pod)
    else:
        bed("fault", "kill", f"{pod}/slurmd")
    return True


def switch_node(event, hit):
    node = pick_node(event)
    going_down = event.kind == "power node down"
    hit.what = node
    if (node in world.pods()) != going_down:
        return False  # it is in that state already
    slurm("scontrol", "update", f"nodename={node}", "state=power_down_asap" if going_down else "state=power_up")
    return True


def is_outage(kind):
    """Of the API server, etcd, the kubelet and their like."""
    name = kind.partition(" ")[2]
    return name.startswith("kube") or name == "etcd"


def inflict(event, soak, hit):
    """Carries a fault out, and writes into `hit` what it did; False when there was nothing to hit, or it was refused.
    Away: nobody knows whether it was done."""
    verb, _, name = event.kind.partition(" ")
    if event.kind == "kill slurmctld":
        end_slurmctld(soak, hit, "fault", "kill", f"{world.CONTROLLER}/slurmctld")
    elif event.kind == "delete controller pod":
        end_slurmctld(soak, hit, "kubectl", "-n", world.NAMESPACE, "delete", "pod", world.CONTROLLER, "--wait=false")
        hit.saved = 0  # it saves when it ends
    elif event.kind == "kill sidecar":
        bed("fault", "kill", f"{world.CONTROLLER}/sidecar")
    elif event.kind == "reconfigure":
        for _ in range(event.pick % 5 + 1):
            slurm("scontrol", "reconfigure", timeout=40)
    elif is_outage(event.kind):
        outage(verb, name, event.seconds)
    elif event.kind.startswith("power node"):
        return switch_node(event, hit)
    else:
        return hit_pod(event, hit)
    return True
