#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where secrets of a cluster are shown: kubectl get secrets -o json | shown_secrets.py FOLDER-OF-LOGS

Looks at the command lines and environments of all processes of this machine, on which the pods run, again and again until
FOLDER/end is there; then at the logs. A value of several lines or with bytes that are no text is looked for line by line,
and as base64. Prints SECRET/KEY: WHERE, each once.
"""
import base64
import json
import pathlib
import re
import sys
import time

# Shorter lines are in any log; and what is public by itself.
SHORTEST = 12
PUBLIC = re.compile(r"\.pub$|^authorized_keys\.|^passwd$|^group$")
# Of Helm: all that the chart has rendered, in an encoding of its own.
HELM = "helm.sh/release.v1"


def forms(value):
    yield base64.b64encode(value)[:64]
    yield value.hex()[:64].encode()
    for line in value.splitlines():
        if b"PRIVATE KEY" not in line and line.isascii():
            yield line.strip()


def secrets(items):
    """(SECRET/KEY, form) of all."""
    for item in items:
        if item["type"] == HELM:
            continue
        for key, value in (item.get("data") or {}).items():
            if PUBLIC.search(key):
                continue
            for form in forms(base64.b64decode(value)):
                if len(form) >= SHORTEST:
                    yield f"{item['metadata']['name']}/{key}", form


def logs(folder):
    """(WHERE, bytes)"""
    for path in folder.iterdir():
        yield "log", path.read_bytes()


def processes():
    """(WHERE, bytes)"""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        for file, where in (("cmdline", "command line"), ("environ", "environment")):
            try:
                yield where, (process / file).read_bytes()
            except OSError:
                pass  # it has ended


def main():
    folder = pathlib.Path(sys.argv[1])
    looked_for = list(secrets(json.load(sys.stdin)["items"]))
    found = set()

    def search(places):
        for where, content in places:
            found.update(f"{name}: {where}" for name, form in looked_for if form in content)

    while not (folder / "end").exists():
        search(processes())
        time.sleep(0.1)
    search(logs(folder))
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
