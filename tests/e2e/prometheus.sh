# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A Prometheus of Debian on the bed that scrapes this release, with the chart's rules.

URL=http://127.0.0.1:19090
CHART=$E2E_FOLDER/../../helm/slurm

queries() { "$BED" exec "$E2E_FOLDER/prometheus_queries.py" "$URL" "$@"; }
# When the time is over, what it says is among the causes of the test's failure.
wait_for_queries() { # SECONDS TEXT ARGUMENT…
  wait_for "$1" "$2" queries "${@:3}" || { queries "${@:3}" | sed 's/^/# /' >&2; return 1; }
}
value_is() { [[ $(queries value "$2") == "$1" ]]; } # VALUE EXPRESSION

render_metrics() { # TEMPLATE: without what is not its content
  "$BED" helm template slurm "$CHART" -n "$NAMESPACE" "${VALUES[@]}" \
    --set metrics.rules.enabled=true,metrics.dashboard.enabled=true \
    --show-only "templates/metrics/$1.yaml"
}
render_rules() { render_metrics "$1" | awk 'on { sub(/^  /, ""); print } /^spec:/ { on = 1 }'; }
render_dashboard() { render_metrics dashboard | awk 'on { sub(/^    /, ""); print } /^  slurm-k8s.json: / { on = 1 }'; }

start_prometheus() { # FOLDER
  local programs address
  programs=$("$E2E_FOLDER/fetch_prometheus")
  address=$(kubectl get pod "$CONTROLLER" -o jsonpath='{.status.podIP}')
  render_rules rules >"$1/rules.yaml"
  # Without the chart: monitoring.md.
  [[ -z ${RULES_SECONDS:-} ]] || sed "s/[A-Z_]*_SECONDS/$RULES_SECONDS/" "$CHART/files/rules.yaml" >"$1/rules.yaml"
  # As it is (monitoring.md). The PrometheusRule has the same (tests/chart/metrics.sh).
  cp "$CHART/files/exporter_rules.yaml" "$1"
  "$programs/promtool" check rules "$1/rules.yaml" "$1/exporter_rules.yaml" || fail "promtool refuses the rules"
  cat >"$1/prometheus.yml" <<END
global: {scrape_interval: 5s, evaluation_interval: 5s}
rule_files: [$1/rules.yaml, $1/exporter_rules.yaml]
scrape_configs:
  - job_name: slurm
    metrics_path: /metrics/all
    static_configs:
      - {targets: ["$address:9100"], labels: {namespace: $NAMESPACE}}
END
  "$programs/promtool" check config "$1/prometheus.yml" || fail "promtool refuses its configuration"
  "$BED" exec "$programs/prometheus" --config.file="$1/prometheus.yml" --storage.tsdb.path="$1/data" \
    --web.listen-address="${URL#http://}" --web.enable-lifecycle >"$1/log" 2>&1 &
  wait_for "Prometheus is up" queries value 'vector(1)'
}
