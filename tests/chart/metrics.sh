# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What makes Prometheus and Grafana use the metrics. That the names in it exist: tests/lint/lists.

check "metrics: nothing by default" lacks 'monitoring.coreos.com|slurm-metrics|grafana'
check "metrics: users with metrics of their own" shows controller/statefulset '^            - "7"$' \
  --set metrics.users=7

service=(--set metrics.serviceMonitor.enabled=true)
check "ServiceMonitor: the Service that it selects" part '^    app.kubernetes.io/component: metrics$' \
  Service slurm-metrics "${service[@]}"
check "ServiceMonitor: its selector" part '^      app.kubernetes.io/component: metrics$' \
  ServiceMonitor slurm "${service[@]}"
check "ServiceMonitor: everything in one scrape" part '^      path: /metrics/all$' ServiceMonitor slurm "${service[@]}"
check "ServiceMonitor: interval" part '^      interval: 1m$' ServiceMonitor slurm "${service[@]}" \
  --set metrics.serviceMonitor.interval=1m
check "ServiceMonitor: time for a scrape" part '^      scrapeTimeout: 20s$' ServiceMonitor slurm "${service[@]}" \
  --set metrics.serviceMonitor.scrapeTimeout=20s
check "ServiceMonitor: label" part '^    release: prom$' ServiceMonitor slurm "${service[@]}" \
  --set metrics.serviceMonitor.labels.release=prom
check "ServiceMonitor: paths of Slurm" part '^      path: /metrics/jobs-users-accts$' ServiceMonitor slurm \
  "${service[@]}" --set 'metrics.paths={/metrics,/metrics/jobs-users-accts}'
check "an unknown path" refused "/metrics/paths/0" --set 'metrics.paths={/metrics/job}'
check "an invalid interval" refused "/metrics/serviceMonitor/interval" --set metrics.serviceMonitor.interval=often
check "an interval that the definition refuses" refused "/metrics/podMonitor/interval" \
  --set metrics.podMonitor.interval=5m1h
check "a scrape that lasts longer than the interval" refused \
  'metrics.serviceMonitor.scrapeTimeout: must not be longer than the interval, 5s' "${service[@]}" \
  --set metrics.serviceMonitor.interval=5s
check "a scrape that lasts as long as the interval" part '^      scrapeTimeout: 1m$' ServiceMonitor slurm \
  "${service[@]}" --set metrics.serviceMonitor.interval=60s,metrics.serviceMonitor.scrapeTimeout=1m

pod=(--set metrics.podMonitor.enabled=true)
check "PodMonitor: the controller's pods" part '^      app.kubernetes.io/name: slurmctld$' PodMonitor slurm "${pod[@]}"
check "PodMonitor: a scrape that lasts longer than the interval" refused \
  'metrics.podMonitor.scrapeTimeout: must not be longer than the interval, 1m500ms' "${pod[@]}" \
  --set metrics.podMonitor.interval=1m500ms,metrics.podMonitor.scrapeTimeout=61s
check "PodMonitor: needs no Service" lacks 'slurm-metrics' "${pod[@]}"
check "PodMonitor: no bridge, no port of it" lacks 'bridge-metrics' "${pod[@]}" "${service[@]}"
check "PodMonitor: the bridge" part '^    - port: bridge-metrics$' PodMonitor slurm "${pod[@]}" \
  --set bridge.enabled=true
check "ServiceMonitor: the bridge" part '^    - port: bridge-metrics$' ServiceMonitor slurm "${service[@]}" \
  --set bridge.enabled=true
check "ServiceMonitor: the bridge's port" part 'name: bridge-metrics, port: 9101' Service slurm-metrics \
  "${service[@]}" --set bridge.enabled=true
annotations=(--set-string 'metrics.annotations.prometheus\.io/scrape=true')
check "annotations: a Service" part '^    prometheus.io/scrape: "true"$' Service slurm-metrics "${annotations[@]}"
check "annotations: no monitor" lacks monitoring.coreos.com "${annotations[@]}"
check "a slurmctld outside: no monitors" lacks 'kind: (Pod|Service)Monitor|slurm-metrics' "${service[@]}" "${pod[@]}" \
  --set controller.external=true

rules=(--set metrics.rules.enabled=true)
check "rules: jobs that wait for pods" part 'expr: slurm_k8s_jobs_longest_configuring_seconds > 300$' \
  PrometheusRule slurm "${rules[@]}" --set metrics.rules.waitForPodsMinutes=5
check "rules: pending jobs" part 'expr: slurm_k8s_jobs_longest_pending_seconds > 86400$' PrometheusRule slurm \
  "${rules[@]}"
check "rules: words of Prometheus stay" part 'summary: NodeSet \{\{ .labels.nodeset \}\} is' PrometheusRule slurm \
  "${rules[@]}"
check "rules: a minute is a number" refused "/metrics/rules/pendingMinutes" "${rules[@]}" \
  --set metrics.rules.pendingMinutes=0

check "rules: no names of slurm-exporter by default" lacks 'record: ' "${rules[@]}"
check "rules: names of slurm-exporter" shows metrics/exporter_rules \
  'record: slurm_partition_jobs_pending_total, expr: slurm_partition_jobs_pending}$' \
  --set metrics.rules.exporterNames=true
# Each of them is recorded from a name that lint knows: those in the golden text, or of the scheduler.
exporter_names_have_sources() {
  local missing
  missing=$(sed -nE 's/.* expr: (.*)\}$/\1/p' "$CHART/files/exporter_rules.yaml" | grep -oE 'slurm_[a-z_]+' | sort -u |
    grep -vxF -f <(sed -nE 's/^# TYPE ([a-z_0-9]+) .*/\1/p' "$TOP/tests/unit/sidecar/state_metrics.prom"
      grep -oE '"[a-z_]+", [a-z_]+' "$TOP/lib/slurm/rpc/statistics_fields.cc" |
        sed -E 's/"([a-z_]+)".*/slurm_\1/') || true)
  [[ -z $missing ]] || { echo "$missing"; return 1; }
}
check "rules: names of slurm-exporter have sources" exporter_names_have_sources
# A Prometheus without an operator loads the file: it is the PrometheusRule's spec, without words of a template.
exporter_names_are_the_file() {
  local rendered
  rendered=$(render --show-only templates/metrics/exporter_rules.yaml --set metrics.rules.exporterNames=true)
  diff "$CHART/files/exporter_rules.yaml" <(awk 'on { sub(/^  /, ""); print } /^spec:/ { on = 1 }' <<<"$rendered") &&
    grep -qx 'groups:' "$CHART/files/exporter_rules.yaml" && ! grep -F '{{' "$CHART/files/exporter_rules.yaml"
}
check "rules: names of slurm-exporter are those of the file" exporter_names_are_the_file

# The file as it is in the ConfigMap.
dashboard_is_the_file() {
  diff "$CHART/files/dashboard.json" <(render --show-only templates/metrics/dashboard.yaml \
    --set metrics.dashboard.enabled=true | awk 'on { sub(/^    /, ""); print } /^  slurm-k8s.json: \|/ { on = 1 }')
}
check "dashboard" dashboard_is_the_file
check "dashboard: label" part '^    grafana_dashboard: "1"$' ConfigMap slurm-dashboard \
  --set metrics.dashboard.enabled=true
check "dashboard: folder" part '^    grafana_folder: Slurm$' ConfigMap slurm-dashboard \
  --set metrics.dashboard.enabled=true,metrics.dashboard.annotations.grafana_folder=Slurm
