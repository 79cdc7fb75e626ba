# SPDX-License-Identifier: GPL-2.0-or-later
"""The yardstick of mass requests: curl, in parallel, with the very bodies of the engine, and its credentials."""
import copy
import json
import pathlib
import subprocess
import tempfile
import time

from cluster import give_up

ENGINE_LABEL = "slurm-k8s.io/node"
BARE_LABEL = "slurm-k8s.io/bare"  # as long, and not watched by the engine
# How curl may go about it; the fastest counts.
WAYS = {"HTTP/2, 100 at a time": ("http2", "100"),
        "HTTP/1.1, 50 connections": ("http1.1", "50"),
        "HTTP/1.1, 16 connections": ("http1.1", "16")}
# What the API server fills in; without it the body is what was posted.
DEFAULTS = {
    "spec": {"dnsPolicy", "nodeName", "preemptionPolicy", "priority", "securityContext", "serviceAccount",
             "serviceAccountName"},
    "containers": {"imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"},
    "metadata": {"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"},
}
ADDED_TOLERATIONS = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}


def posted_body(pod):
    """The body that a stored pod was made from, but for the order of its fields."""
    body = copy.deepcopy(pod)
    del body["status"]
    for field in DEFAULTS["metadata"]:
        body["metadata"].pop(field, None)
    spec = body["spec"]
    for field in DEFAULTS["spec"]:
        spec.pop(field, None)
    spec["tolerations"] = [t for t in spec["tolerations"] if t["key"] not in ADDED_TOLERATIONS]
    for container in spec["containers"]:
        for field in DEFAULTS["containers"]:
            container.pop(field, None)
        for port in container.get("ports", []):
            if port.get("protocol") == "TCP":
                del port["protocol"]
        for variable in container.get("env", []):
            variable.get("valueFrom", {}).get("fieldRef", {}).pop("apiVersion", None)
    return {"apiVersion": "v1", "kind": "Pod", **body}


def bare_bodies(pattern, count):
    """`count` pods as the engine's `pattern`, that the engine doesn't watch."""
    labels = dict(pattern["metadata"]["labels"])
    labels[BARE_LABEL] = labels.pop(ENGINE_LABEL)
    return [{**pattern, "metadata": {**pattern["metadata"], "labels": labels, "name": f"bare-{number}"}}
            for number in range(count)]


class BareClient:
    def __init__(self, api, token, path):
        """`path`: the collection of pods. `token`: of the engine's service account."""
        self.path = path
        self.address = api.address
        self.folder = tempfile.TemporaryDirectory(prefix="slurm-k8s-bench-")
        root = pathlib.Path(self.folder.name)
        (root / "ca").write_text(api.ca)
        self.common = [f'cacert = "{root / "ca"}"', f'header = "Authorization: Bearer {token}"',
                       'header = "Content-Type: application/json"', 'header = "Accept: application/json"',
                       'header = "Expect:"', "silent", "show-error", "fail", 'output = "/dev/null"', "retry = 10"]

    def close(self):
        self.folder.cleanup()

    def create(self, way, bodies):
        """Seconds that it takes to post them all."""
        return self.run(way, [("POST", self.path, body) for body in bodies])

    def remove(self, way, pods):
        """Seconds that it takes to delete pods: {name: uid}."""
        return self.run(way, [("DELETE", f"{self.path}/{name}",
                               {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}})
                              for name, uid in pods.items()])

    def run(self, way, requests):
        root = pathlib.Path(self.folder.name)
        lines = []
        version, most = WAYS[way]
        for number, (method, path, body) in enumerate(requests):
            (root / f"body-{number}").write_text(json.dumps(body, separators=(",", ":")))
            lines += ["next"] if number else []
            lines += [f'url = "https://{self.address}{path}"', f'request = "{method}"',
                      f'data = "@{root / f"body-{number}"}"', version, *self.common]
        (root / "config").write_text("\n".join(lines) + "\n")
        start = time.monotonic()
        done = subprocess.run(["curl", "--parallel", "--parallel-max", most, "--config", root / "config"],
                              text=True, capture_output=True)
        taken = time.monotonic() - start
        if done.returncode != 0:
            give_up(f"curl: {done.stderr[-500:]}")
        for number in range(len(requests)):
            (root / f"body-{number}").unlink()
        return taken
