#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Prometheus answers to the queries of a Grafana dashboard, and what it says of its rules.

usage: prometheus_queries.py URL panels DASHBOARD [NAMESPACE]
                                         prints each query without a series, with its panel; 1 if there is one
       prometheus_queries.py URL zero_panels DASHBOARD [NAMESPACE]
                                         prints each panel of whose queries none had another value than 0 in 10 minutes
       prometheus_queries.py URL alerts SINCE    prints each alert that was pending or firing since then, in seconds
       prometheus_queries.py URL rules   prints each rule that could not be evaluated; 1 if there is one, or none
       prometheus_queries.py URL records prints each recording rule without a series; 1 if there is one, or no rule
       prometheus_queries.py URL rule_names      prints the names of its rules
       prometheus_queries.py URL alert_metrics   prints what alerts ask for and has no series; 1 if there is some, or no
                                                 alert
       prometheus_queries.py URL targets         prints each: pod, endpoint, path, "up" or the error
       prometheus_queries.py URL value EXPRESSION    prints the value of its only series; 1 if there is not one
       prometheus_queries.py URL quit    ends it
"""
import json
import re
import sys
import time
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


def read_panels(path, namespace):
    """Title and expression of each query."""
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    return [(title, query.replace("$namespace", namespace).replace("$__rate_interval", "1m"))
            for title, query in panel_queries(dashboard)]


def zero_panels(url, path, namespace=".*"):
    moved = {}
    for title, expression in read_panels(path, namespace):
        found = series(url, f"max_over_time(({expression})[10m:5s]) != 0")
        # NaN is not 0.
        moved[title] = moved.get(title, False) or any(float(one["value"][1]) > 0 for one in found)
    print("\n".join(title for title, what in moved.items() if not what))


def alerts(url, since):
    found = series(url, f"max_over_time(ALERTS[{int(time.time()) - int(since)}s])")
    print("\n".join(sorted({one["metric"]["alertname"] for one in found})))


def panels(url, path, namespace=".*"):
    queries = read_panels(path, namespace)
    faults = 0 if queries else 1
    for title, expression in queries:
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


def without_series(url, selectors):
    faults = [selector for selector in selectors if not series(url, selector)]
    for selector in faults:
        print(f"{selector}: no series")
    return faults


def records(url):
    names = [rule["name"] for rule in rules_of(url) if rule["type"] == "recording"]
    faults = without_series(url, names)
    print(f"{len(names)} recording rules", file=sys.stderr)
    return not names or bool(faults)


def rule_names(url):
    for rule in rules_of(url):
        print(rule["name"])


def alert_metrics(url):
    alerts = [rule for rule in rules_of(url) if rule["type"] == "alerting"]
    asked = sorted({selector for rule in alerts for selector in re.findall(r"slurm_\w+(?:{[^}]*})?", rule["query"])})
    faults = without_series(url, asked)
    print(f"{len(alerts)} alerts ask for {len(asked)} metrics", file=sys.stderr)
    return not alerts or bool(faults)


def targets(url):
    lines = []
    for target in call(url, "targets?state=active")["data"]["activeTargets"]:
        labels, path = target["labels"], urllib.parse.urlsplit(target["scrapeUrl"]).path
        health = "up" if target["health"] == "up" else target["lastError"] or "not scraped yet"
        lines.append(f"{labels.get('pod')} {labels.get('endpoint')} {path} {health}")
    print("\n".join(sorted(lines)))


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
    actions = {"panels": panels, "zero_panels": zero_panels, "alerts": alerts, "rules": rules, "records": records, "rule_names": rule_names,
               "alert_metrics": alert_metrics, "targets": targets, "value": value, "quit": end}
    if len(sys.argv) < 3 or sys.argv[2] not in actions:
        print(__doc__, file=sys.stderr)
        return 2
    return 1 if actions[sys.argv[2]](sys.argv[1], *sys.argv[3:]) else 0


if __name__ == "__main__":
    sys.exit(main())
