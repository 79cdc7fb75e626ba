#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Prometheus answers to the queries of a Grafana dashboard, and what it says of its rules.

usage: prometheus_queries.py URL panels DASHBOARD [NAMESPACE]
                                         prints each query without a series, with its panel; 1 if there is one
       prometheus_queries.py URL rules   prints each rule that could not be evaluated; 1 if there is one, or none
       prometheus_queries.py URL records prints each recording rule without a series; 1 if there is one, or no rule
       prometheus_queries.py URL value EXPRESSION    prints the value of its only series; 1 if there is not one
       prometheus_queries.py URL quit    ends it
"""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request


def call(url, path, **values):
    data = urllib.parse.urlencode(values).encode() if values else None
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}", data, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error)


def series(url, expression):
    answer = call(url, "query", query=expression)
    if answer["status"] != "success":
        raise ValueError(answer["error"])
    return answer["data"]["result"]


def panel_queries(dashboard):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def panels(url, path, namespace=".*"):
    with open(path, encoding="utf-8") as file:
        queries = list(panel_queries(json.load(file)))
    faults = 0 if queries else 1
    for title, query in queries:
        expression = query.replace("$namespace", namespace).replace("$__rate_interval", "1m")
        try:
            found = series(url, expression)
            what = "no series"
        except ValueError as error:
            found, what = [], str(error)
        if not found:
            faults += 1
            print(f"{title}: {expression}: {what}")
    print(f"{len(queries)} queries, {faults} without a series", file=sys.stderr)
    return faults


def rules_of(url):
    return [rule for group in call(url, "rules")["data"]["groups"] for rule in group["rules"]]


def rules(url):
    all_rules = rules_of(url)
    faults = [rule for rule in all_rules if rule["health"] != "ok"]
    for rule in faults:
        print(f"{rule['name']}: {rule['health']}: {rule.get('lastError', 'not evaluated yet')}")
    print(f"{len(all_rules)} rules", file=sys.stderr)
    return not all_rules or bool(faults)


def records(url):
    names = [rule["name"] for rule in rules_of(url) if rule["type"] == "recording"]
    faults = [name for name in names if not series(url, name)]
    for name in faults:
        print(f"{name}: no series")
    print(f"{len(names)} recording rules", file=sys.stderr)
    return not names or bool(faults)


def value(url, expression):
    found = series(url, expression)
    if len(found) != 1:
        print(f"{expression}: {len(found)} series")
        return 1
    print(found[0]["value"][1])
    return 0


def end(url):
    urllib.request.urlopen(urllib.request.Request(f"{url}/-/quit", method="POST"), timeout=30).close()


def main():
    actions = {"panels": panels, "rules": rules, "records": records, "value": value, "quit": end}
    if len(sys.argv) < 3 or sys.argv[2] not in actions:
        print(__doc__, file=sys.stderr)
        return 2
    return 1 if actions[sys.argv[2]](sys.argv[1], *sys.argv[3:]) else 0


if __name__ == "__main__":
    sys.exit(main())
