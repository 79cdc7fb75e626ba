# SPDX-License-Identifier: GPL-2.0-or-later
"""The yardstick: how long Kubernetes alone takes from creating pods to all of them Running. Watched, not polled."""
import json
import time
import urllib.parse
import uuid

from api import Api


class BarePods:
    def __init__(self, kubeconfig, image, namespace="default"):
        self.api = Api(kubeconfig)
        self.image = image
        self.pods = f"/api/v1/namespaces/{namespace}/pods"

    def seconds(self, count):
        """Creates `count` pods, returns the seconds until all run, and removes them."""
        label = uuid.uuid4().hex[:8]
        selector = urllib.parse.quote(f"bench={label}")
        calls, events = self.api.connect(), self.api.connect()
        version = self.api.ask(calls, "GET", f"{self.pods}?labelSelector={selector}")["metadata"]["resourceVersion"]
        events.request("GET", f"{self.pods}?watch=1&resourceVersion={version}&labelSelector={selector}")
        start = time.monotonic()
        for number in range(count):
            self.api.ask(calls, "POST", self.pods, {
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": f"bench-{label}-{number}", "labels": {"bench": label}},
                "spec": {"terminationGracePeriodSeconds": 0, "restartPolicy": "Never",
                         "automountServiceAccountToken": False,
                         "containers": [{"name": "slurmd", "image": self.image, "imagePullPolicy": "IfNotPresent",
                                         "command": ["sleep", "600"],
                                         "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}}}]}})
        running = set()
        stream = events.getresponse()
        while len(running) < count:
            event = json.loads(stream.readline())
            if event["object"]["status"].get("phase") == "Running":
                running.add(event["object"]["metadata"]["name"])
        taken = time.monotonic() - start
        self.api.ask(calls, "DELETE", f"{self.pods}?labelSelector={selector}")
        while self.api.ask(calls, "GET", f"{self.pods}?labelSelector={selector}")["items"]:
            time.sleep(0.2)
        return taken
