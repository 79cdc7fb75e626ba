# SPDX-License-Identifier: GPL-2.0-or-later
"""The yardstick: how long Kubernetes alone takes from creating pods to all of them Running. Watched, not polled."""
import base64
import http.client
import json
import ssl
import tempfile
import time
import urllib.parse
import uuid


class BarePods:
    def __init__(self, kubeconfig, image, namespace="default"):
        cluster = kubeconfig["clusters"][0]["cluster"]
        user = kubeconfig["users"][0]["user"]
        self.address = urllib.parse.urlparse(cluster["server"]).netloc
        self.context = ssl.create_default_context(
            cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        with tempfile.NamedTemporaryFile() as pem:
            pem.write(base64.b64decode(user["client-certificate-data"]) + b"\n" +
                      base64.b64decode(user["client-key-data"]))
            pem.flush()
            self.context.load_cert_chain(pem.name)
        self.image = image
        self.pods = f"/api/v1/namespaces/{namespace}/pods"

    def _connection(self):
        return http.client.HTTPSConnection(self.address, context=self.context, timeout=120)

    def _ask(self, connection, method, path, body=None):
        connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]}")
        return json.loads(text)

    def seconds(self, count):
        """Creates `count` pods, returns the seconds until all run, and removes them."""
        label = uuid.uuid4().hex[:8]
        selector = urllib.parse.quote(f"bench={label}")
        calls, events = self._connection(), self._connection()
        version = self._ask(calls, "GET", f"{self.pods}?labelSelector={selector}")["metadata"]["resourceVersion"]
        events.request("GET", f"{self.pods}?watch=1&resourceVersion={version}&labelSelector={selector}")
        start = time.monotonic()
        for number in range(count):
            self._ask(calls, "POST", self.pods, {
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
        self._ask(calls, "DELETE", f"{self.pods}?labelSelector={selector}")
        while self._ask(calls, "GET", f"{self.pods}?labelSelector={selector}")["items"]:
            time.sleep(0.2)
        return taken
