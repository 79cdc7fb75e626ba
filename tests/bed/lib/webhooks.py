#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Webhook configurations for a webhook server at an address, from those for a Service.

  webhooks.py NAME URL CA-FILE LABEL <JSON >JSON

Webhooks for pods are called for pods with the label alone.
"""
import base64
import json
import pathlib
import sys


def objects(text):
    """Those of a list, or of one document after the other."""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        yield from value.get("items", [value])
        text = text[end:]


def main():
    name, url, authority, label = sys.argv[1:]
    bundle = base64.b64encode(pathlib.Path(authority).read_bytes()).decode()
    items = list(objects(sys.stdin.read()))
    for item in items:
        item["metadata"] = {"name": name}
        for webhook in item["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": url + path, "caBundle": bundle}
            if any("pods" in rule["resources"] for rule in webhook["rules"]):
                webhook["objectSelector"] = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout)


main()
