#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A fake kube-apiserver for tests: TLS, bearer tokens and client certificates, objects (store.py), faults (faults.py).

usage: server.py FOLDER
FOLDER holds ca.crt, server.crt, server.key; the port is written to FOLDER/port once the server listens on 127.0.0.1.
It runs until it is killed.

Beside the API there is, for the user "admin", a way to play fate:
  POST /_fake/faults    adds a fault (faults.py)          DELETE /_fake/faults   forgets them
  POST /_fake/compact   forgets the history: 410          POST /_fake/tokens     {"TOKEN": "USER"} replaces the tokens
  GET  /_fake/stats     {"LIST pods": 3, "connections": now, "most_connections": so far}   DELETE: counts from 0 again
"""
import collections
import http.server
import json
import os
import re
import ssl
import sys
import threading
import time
import urllib.parse
import uuid

from faults import CutOff, Faults, Wire
from store import KINDS, ApiError, Selector, Store

BOOKMARK_S = 1.0  # a real one: about a minute
ROUTE = re.compile(r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+/[^/]+))"
                   r"(?:/namespaces/(?P<namespace>[^/]+)(?=/))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?")
VERBS = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}


class State:
    def __init__(self):
        self.store = Store()
        self.faults = Faults()
        self.tokens = {"admin-token": "admin"}
        self.lock = threading.Lock()
        self.stats = collections.Counter()

    def connected(self, change):
        with self.lock:
            self.stats["connections"] += change
            self.stats["most_connections"] = max(self.stats["most_connections"], self.stats["connections"])

    def count(self, what):
        with self.lock:
            self.stats[what] += 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state = None

    def setup(self):
        super().setup()
        self.state.connected(1)

    def finish(self):
        self.state.connected(-1)
        super().finish()

    def log_message(self, *_):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (CutOff, OSError):  # OSError: the client went away
            self.close_connection = True
            try:
                self.connection.shutdown(2)  # at once, without TLS's good-bye
            except OSError:
                pass

    def _any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault = self.state.faults.take(self.command, self.path, self.headers.get("User-Agent"))
        wire = Wire(self.wfile, fault, self.state.faults)
        if wire.before_answer():
            return
        try:
            code, answer = self._route(wire, body)
        except ApiError as error:
            code, answer = error.code, error.status()
        if answer is not None:
            wire.answer(code, json.dumps(answer).encode())

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _any  # noqa: names that http.server wants

    def _user(self):
        authorization = self.headers.get("Authorization", "")
        if authorization:
            user = self.state.tokens.get(authorization.removeprefix("Bearer "))
            if user is None:
                raise ApiError(401, "Unauthorized", "Unauthorized")
            return user
        certificate = self.connection.getpeercert() or {}
        names = [value for part in certificate.get("subject", ()) for key, value in part if key == "commonName"]
        return names[0] if names else "system:anonymous"

    def _route(self, wire, body):
        """(code, answer) of a request; (None, None) when it has been answered."""
        user = self._user()
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path.startswith("/_fake/") and user == "admin":
            return 200, self._fate(url.path.removeprefix("/_fake/"), json.loads(body or "{}"))
        match = ROUTE.fullmatch(url.path)
        resource = (match["core"] or match["group"], match["plural"]) if match else None
        if resource not in KINDS:
            wire.answer(404, b"404 page not found\n", {"Content-Type": "text/plain; charset=utf-8"})
            return None, None
        namespace, name, sub = match["namespace"] or "", match["name"] or "", match["sub"] or ""
        verb = VERBS.get(self.command) or ("get" if name else "watch" if query.get("watch") == "true" else "list")
        self.state.count(f"{verb} {resource[1]}")
        if user != "admin":
            raise ApiError(403, "Forbidden", f'{resource[1]} is forbidden: User "{user}" cannot {verb} resource '
                           f'"{resource[1]}" in API group "" in the namespace "{namespace}"')
        if verb == "watch":
            return self._watch(wire, resource, namespace, query)
        if sub == "token" and resource[1] == "serviceaccounts":
            return 201, self._make_token(namespace, name)
        return self._call(verb, resource, namespace, name, sub, query, self._parse(body) if body else {})

    @staticmethod
    def _parse(body):
        try:
            return json.loads(body)
        except ValueError as error:
            raise ApiError(400, "BadRequest", f"the object provided is unrecognized: {error}") from None

    def _call(self, verb, resource, namespace, name, sub, query, body):
        store = self.state.store
        if verb == "get":
            return 200, store.get(resource, namespace, name)
        if verb == "list":
            return 200, store.list(resource, namespace, self._selector(resource, query),
                                   int(query.get("limit", 0)), query.get("continue", ""))
        if verb == "create" and sub:
            return 201, store.create_subresource(resource, namespace, name, sub, body)
        if verb == "create":
            return 201, store.create(resource, namespace, body)
        if verb == "patch":
            return 200, store.patch(resource, namespace, name, sub, self.headers.get("Content-Type", ""), body)
        return 200, store.delete(resource, namespace, name, body)

    @staticmethod
    def _selector(resource, query):
        return Selector(query.get("labelSelector", ""), query.get("fieldSelector", ""), resource)

    def _make_token(self, namespace, name):
        self.state.store.get(("v1", "serviceaccounts"), namespace, name)
        token = str(uuid.uuid4())
        self.state.tokens[token] = f"system:serviceaccount:{namespace}:{name}"
        return {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "status": {"token": token}}

    def _watch(self, wire, resource, namespace, query):
        store, selector = self.state.store, self._selector(resource, query)
        version = int(query.get("resourceVersion") or 0)
        bookmarks = query.get("allowWatchBookmarks") == "true"
        end = time.monotonic() + float(query.get("timeoutSeconds", 1800))
        bookmark_at = time.monotonic() + BOOKMARK_S

        def send(kind, item):
            wire.line(json.dumps({"type": kind, "object": item}))

        wire.begin_stream()
        try:
            if version == 0:
                first = store.list(resource, namespace, selector, 0, "")
                for item in first["items"]:
                    send("ADDED", {"kind": KINDS[resource], "apiVersion": resource[0], **item})
                version = int(first["metadata"]["resourceVersion"])
            while time.monotonic() < end:
                with store.changed:
                    looked_at, events = store.events_after(version, resource, namespace, selector)
                    if not events:
                        store.changed.wait(min(bookmark_at, end) - time.monotonic())
                for kind, item in events:
                    send(kind, item)
                version = looked_at
                if bookmarks and not events and time.monotonic() >= bookmark_at:
                    bookmark_at = time.monotonic() + BOOKMARK_S
                    send("BOOKMARK", {"kind": KINDS[resource], "apiVersion": resource[0],
                                      "metadata": {"resourceVersion": str(version), "creationTimestamp": None}})
        except ApiError as error:
            send("ERROR", error.status())
        wire.end_stream()
        return None, None

    def _fate(self, what, body):
        state = self.state
        if what == "faults":
            state.faults.clear() if self.command == "DELETE" else state.faults.add(body)
        elif what == "compact":
            state.store.compact()
        elif what == "tokens":
            state.tokens = body
        elif what == "stats":
            with state.lock:
                if self.command == "DELETE":
                    state.stats = collections.Counter(connections=state.stats["connections"])
                return dict(state.stats)
        else:
            raise ApiError(404, "NotFound", f"no such fate: {what}")
        return {}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A connection that failed before its first request (a client that doesn't trust us) is no news."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def make_namespaces(store):
    for name in ("default", "contract"):
        store.create(("v1", "namespaces"), "", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        store.create(("v1", "serviceaccounts"), name,
                     {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}})


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit("usage: server.py FOLDER")
    folder = sys.argv[1]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/server.crt", f"{folder}/server.key")
    context.load_verify_locations(f"{folder}/ca.crt")
    context.verify_mode = ssl.CERT_OPTIONAL

    Handler.state = State()
    make_namespaces(Handler.state.store)
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    with open(f"{folder}/port.new", "w", encoding="ascii") as port:
        port.write(str(server.server_address[1]))
    os.rename(f"{folder}/port.new", f"{folder}/port")
    server.serve_forever()


if __name__ == "__main__":
    main()
