# SPDX-License-Identifier: GPL-2.0-or-later
"""A small client of the API server, from a kubeconfig with a client certificate."""
import base64
import http.client
import json
import ssl
import tempfile
import urllib.parse


class Api:
    def __init__(self, kubeconfig):
        cluster = kubeconfig["clusters"][0]["cluster"]
        user = kubeconfig["users"][0]["user"]
        self.address = urllib.parse.urlparse(cluster["server"]).netloc
        self.ca = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self.context = ssl.create_default_context(cadata=self.ca)
        with tempfile.NamedTemporaryFile() as pem:
            pem.write(base64.b64decode(user["client-certificate-data"]) + b"\n" +
                      base64.b64decode(user["client-key-data"]))
            pem.flush()
            self.context.load_cert_chain(pem.name)

    def connect(self):
        return http.client.HTTPSConnection(self.address, context=self.context, timeout=120)

    def ask(self, connection, method, path, body=None, accept="application/json", missing=None):
        """`missing`: what a 404 gives, instead of an error."""
        connection.request(method, path, json.dumps(body) if body else None,
                           {"Content-Type": "application/json", "Accept": accept})
        response = connection.getresponse()
        text = response.read()
        if response.status == 404 and missing is not None:
            return missing
        if response.status >= 300:
            raise RuntimeError(f"{method} {path}: {response.status} {text[:300]}")
        return json.loads(text)

    def call(self, method, path, body=None, **options):
        """ask() over a connection of its own."""
        connection = self.connect()
        try:
            return self.ask(connection, method, path, body, **options)
        finally:
            connection.close()

    def count(self, path):
        """Number of objects of a list. With a selector the API server would not tell it."""
        answer = self.call("GET", f"{path}?limit=1")
        return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)

    def watch(self, path, selector):
        """
        Yields (type, object) of what is there and of all that changes, for ever. The API server cuts a watch that doesn't
        keep up with it: then what is there is compared with what was told.
        """
        told = {}  # uid: object
        while True:
            listed = self.call("GET", f"{path}?{urllib.parse.urlencode({'labelSelector': selector})}")
            there = {item["metadata"]["uid"]: item for item in listed["items"]}
            for uid in told.keys() - there.keys():
                yield "DELETED", told.pop(uid)
            for uid, item in there.items():
                yield "MODIFIED" if uid in told else "ADDED", item
                told[uid] = item
            for kind, item in self._changes(path, selector, listed["metadata"]["resourceVersion"]):
                if kind == "DELETED":
                    told.pop(item["metadata"]["uid"], None)
                else:
                    told[item["metadata"]["uid"]] = item
                yield kind, item

    def _changes(self, path, selector, version):
        """Until the watch is cut, or has an error to tell."""
        query = urllib.parse.urlencode({"watch": 1, "labelSelector": selector, "resourceVersion": version})
        connection = self.connect()
        connection.timeout = None
        connection.request("GET", f"{path}?{query}")
        response = connection.getresponse()
        while (line := response.readline()).endswith(b"\n"):
            event = json.loads(line)
            if event["type"] == "ERROR":
                break
            yield event["type"], event["object"]
        connection.close()
