# SPDX-License-Identifier: GPL-2.0-or-later
"""What the API server was asked meanwhile, by verb and resource: what else it does than what is measured."""
import contextlib
import re
import time

# Of the kinds of objects that slurm-k8s writes, by whichever client.
WRITES = re.compile(r"(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION) "
                    r"(nodesets|pods|poddisruptionbudgets|persistentvolumeclaims|events)(/|$)")
COUNTER = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="([^"]*)"')


def counted(api):
    """{"VERB resource": number} since the API server began."""
    connection = api.connect()
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    counted = {}
    for labels, value in COUNTER.findall(text):
        label = dict(LABEL.findall(labels))
        resource = "/".join(filter(None, (label.get("resource"), label.get("subresource"))))
        key = f"{label['verb']} {resource}"
        counted[key] = counted.get(key, 0) + float(value)
    return counted


def writes_of(by_kind):
    return {kind: count for kind, count in by_kind.items() if WRITES.match(kind)}


def settle(api, limit=900):
    """Seconds until nothing was written for ten seconds, after a change; `limit`: not within it."""
    begin, before = time.monotonic(), None
    while before != (now := writes_of(counted(api))) and time.monotonic() - begin < limit:
        before = now
        time.sleep(10)
    return time.monotonic() - begin if before == now else limit


@contextlib.contextmanager
def api_requests(api, by_kind):
    """Adds the requests that are answered meanwhile to {"VERB resource": number}."""
    before = counted(api)
    yield
    for kind, value in counted(api).items():
        more = int(value - before.get(kind, 0))
        if more:
            by_kind[kind] = by_kind.get(kind, 0) + more
