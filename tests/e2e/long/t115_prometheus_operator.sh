# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the Prometheus Operator and its admission webhook make of the chart's monitors and rules. Its own StatefulSet
# runs Debian's Prometheus with the configuration that it has generated.
#
# Alone: all
# Release: prometheus-operator

# shellcheck source=tests/e2e/prometheus.sh
source "$E2E_FOLDER/prometheus.sh"
# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"
# shellcheck source=tests/e2e/two_controllers.sh
source "$E2E_FOLDER/two_controllers.sh"

SCHEDULER=slurm-k8s-bridge-prometheus
MONITORING=$NAMESPACE-monitoring
OPERATOR=http://127.0.0.1:9448

in_monitoring() { "$BED" kubectl -n "$MONITORING" "$@"; }

start_operator() {
  local image version
  image=$("$BED" controller start prometheus-operator)
  "$BED" kubectl create namespace "$MONITORING" >/dev/null
  in_monitoring run version --image="$image" --restart=Never --command -- prometheus --version >/dev/null
  in_monitoring wait --for=jsonpath='{.status.phase}'=Succeeded pod/version --timeout=60s >/dev/null
  version=$(in_monitoring logs version | sed -nE 's/^prometheus, version ([0-9.]+).*/\1/p')
  put_prometheus "$image" "$version"
  wait_for 90 "Prometheus is ready" in_monitoring rollout status statefulset/prometheus-main --timeout=5s ||
    { in_monitoring describe pods; in_monitoring logs prometheus-main-0 --all-containers; return 1; }
  URL=http://$(in_monitoring get pod prometheus-main-0 -o jsonpath='{.status.podIP}'):9090
  echo "# Prometheus $version" >&2
}
# Monitors and rules of all namespaces that have the label.
put_prometheus() { # IMAGE VERSION
  in_monitoring apply -f - >/dev/null <<END
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $MONITORING}
rules:
  - {apiGroups: [""], resources: [services, endpoints, pods], verbs: [get, list, watch]}
  - {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $MONITORING}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $MONITORING}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: $MONITORING}]
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main}
spec:
  image: $1
  version: $2
  serviceAccountName: prometheus
  securityContext: {runAsNonRoot: true, runAsUser: 65534, fsGroup: 65534}
  evaluationInterval: 5s
  serviceMonitorNamespaceSelector: {}
  serviceMonitorSelector: &release {matchLabels: {release: prometheus}}
  podMonitorNamespaceSelector: {}
  podMonitorSelector: *release
  ruleNamespaceSelector: {}
  ruleSelector: *release
END
}
# The release first: Helm deletes no object whose definition is gone.
stop_operator() {
  set +e
  remove_workloads
  remove_release
  remove_volume 2>/dev/null
  in_monitoring delete prometheus main --ignore-not-found >/dev/null
  "$BED" controller stop prometheus-operator
  "$BED" kubectl delete namespace "$MONITORING" --ignore-not-found >/dev/null
  "$BED" kubectl delete clusterrole,clusterrolebinding "$MONITORING" --ignore-not-found >/dev/null
  install_release
}

# Where the bed's network enforces NetworkPolicies: the chart's names the namespace monitoring.
FROM_PROMETHEUS=(--set-json "networkPolicy.metricsFrom=[
  {\"namespaceSelector\": {\"matchLabels\": {\"kubernetes.io/metadata.name\": \"$MONITORING\"}}}]")

# The options of the page's helm command, a word a line.
documented_options() {
  sed -n '/^    helm upgrade slurm helm\/slurm -n slurm --reuse-values/,/[^\\]$/p' \
    "$E2E_FOLDER/../../docs/admin/monitoring.md" | grep -oE -- '--set [^ ]+' | tr ' ' '\n'
}

# Of our Prometheus, the only one: "RESOURCE STATE COUNT" for what is not zero.
resources() {
  local labels='.*resource="([A-Za-z]+)",state="([a-z]+)"'
  "$BED" exec curl --silent "$OPERATOR/metrics" |
    sed -nE 's/^prometheus_operator_managed_resources\{'"$labels"'\} ([1-9].*)$/\1 \2 \3/p' | sort
}
resources_are() { [[ $(resources) == "$1" ]]; }
condition_of_monitor() { # NAME
  kubectl get servicemonitor "$1" \
    -o jsonpath='{range .status.bindings[*]}{.conditions[*].type}={.conditions[*].status}{end}'
}
monitor_is() { [[ $(condition_of_monitor "$1") == "$2" ]]; } # NAME CONDITION
conditions_of_prometheus() {
  in_monitoring get prometheus main -o jsonpath='{range .status.conditions[*]}{.type}={.status}{"\n"}{end}' | sort
}
conditions_are() { [[ $(conditions_of_prometheus | paste -sd ' ') == "$1" ]]; }
targets_are() { [[ $(queries targets) == "$1" ]]; }
rules_of_release() {
  kubectl get prometheusrules -o jsonpath='{range .items[*].spec.groups[*].rules[*]}{.alert}{.record}{"\n"}{end}' | sort
}
rules_are_loaded() { [[ $(queries rule_names | sort) == "$(rules_of_release)" ]]; }

test_a_service_monitor_of_two_controllers() {
  local options targets
  trap stop_operator EXIT
  start_operator
  mapfile -t options < <(documented_options)
  ((${#options[@]} == 4)) || fail "options in monitoring.md: ${options[*]}"
  remove_release
  shared_volume
  install_release --set controller.replicas=2,controller.persistence.existingClaim=e2e-shared \
    -f <(values_with_one_user) "${options[@]}" "${FROM_PROMETHEUS[@]}" --set metrics.rules.exporterNames=true \
    --set metrics.serviceMonitor.interval=5s,metrics.serviceMonitor.scrapeTimeout=5s
  targets="slurm-controller-0 bridge-metrics /metrics up
slurm-controller-0 metrics /metrics/all up
slurm-controller-1 bridge-metrics /metrics up
slurm-controller-1 metrics /metrics/all up"
  wait_for 90 "all targets are up" targets_are "$targets" || { queries targets; return 1; }
  wait_for "what is selected, and rejected" resources_are "PrometheusRule selected 2
ServiceMonitor selected 1" || { resources; return 1; }
  wait_for "the monitor is accepted" monitor_is slurm Accepted=True || { condition_of_monitor slurm; return 1; }
  # The operator polls every minute.
  wait_for 90 "conditions" conditions_are "Available=True Reconciled=True" || { conditions_of_prometheus; return 1; }
  wait_for 90 "all rules are loaded" rules_are_loaded || { queries rule_names; return 1; }
  wait_for_queries 30 "all rules are evaluated" rules
  wait_for_queries 60 "a series for each metric of the alerts" alert_metrics

  # With the operator's labels, and the second controller's metrics.
  render_dashboard >"$WORK/dashboard-$WORKER.json"
  submit --account=physics --exclusive -N2 --wrap 'sleep 600' >/dev/null
  submit --account=chemistry --wrap 'exit 1' >/dev/null
  submit --account=chemistry --exclusive -N8 --wrap 'true' >/dev/null
  wait_for_queries 120 "a series for each panel" panels "$WORK/dashboard-$WORKER.json" "$NAMESPACE"
  wait_for_queries 60 "a series for each recorded name" records
  wait_for 60 "a job counts once" value_is 1 "sum(slurm_jobs_running{namespace=\"$NAMESPACE\"})" ||
    { queries value 'sum(slurm_jobs_running)'; return 1; }
  assert_equal "sidecars" 2 "$(queries value "count(slurm_k8s_sidecar_leader{namespace=\"$NAMESPACE\"})")"
  assert_equal "leaders" 1 "$(queries value "sum(slurm_k8s_sidecar_leader{namespace=\"$NAMESPACE\"})")"
  slurm scancel --me
}

# All paths but /metrics/all, which has them.
PATHS=(/metrics /metrics/jobs /metrics/jobs-users-accts /metrics/nodes /metrics/partitions /metrics/scheduler)

test_a_pod_monitor_with_all_paths() {
  local path targets=()
  trap stop_operator EXIT
  start_operator
  "$BED" helm upgrade slurm "$CHART" -n "$NAMESPACE" "${VALUES[@]}" --wait --timeout 180s >/dev/null \
    --set metrics.podMonitor.enabled=true,metrics.podMonitor.labels.release=prometheus \
    "${FROM_PROMETHEUS[@]}" --set metrics.podMonitor.interval=15s --set "metrics.paths={$(IFS=,; echo "${PATHS[*]}")}"
  for path in "${PATHS[@]}"; do targets+=("slurm-controller-0 metrics $path up"); done
  wait_for 120 "all targets are up" targets_are "$(printf '%s\n' "${targets[@]}")" || { queries targets; return 1; }
  wait_for "what is selected, and rejected" resources_are "PodMonitor selected 1" || { resources; return 1; }
}

has_event() { # KIND NAME TEXT
  [[ $(kubectl get events --field-selector "involvedObject.kind=$1,involvedObject.name=$2" \
    -o jsonpath='{range .items[*]}{.reason}: {.message}{"\n"}{end}') == *"$3"* ]]
}

# What the tests above would see if the chart's objects were faulty.
test_what_the_operator_refuses() {
  local answer
  trap stop_operator EXIT
  start_operator
  kubectl apply -f - >/dev/null <<END
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: slow, labels: {release: prometheus}}
spec:
  selector: {}
  endpoints: [{port: metrics, interval: 5s, scrapeTimeout: 10s}]
END
  wait_for "it is rejected" resources_are "ServiceMonitor rejected 1
ServiceMonitor selected 1" || { resources; return 1; }
  wait_for "its condition" monitor_is slow Accepted=False
  wait_for "its event" has_event ServiceMonitor slow InvalidConfiguration
  kubectl delete servicemonitor slow >/dev/null
  answer=$(kubectl apply -f - 2>&1 <<END
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: broken, labels: {release: prometheus}}
spec: {groups: [{name: broken, rules: [{alert: Broken, expr: "sum(slurm_jobs"}]}]}
END
  ) && fail "taken: $answer"
  [[ $answer == *'group "broken", rule 1, "Broken": could not parse expression'* ]] || fail "answer: $answer"
}
