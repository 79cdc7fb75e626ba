# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm's state as metrics, and what the chart has for Prometheus and Grafana, with a Prometheus of Debian on the bed.
#
# Release: metrics

# shellcheck source=tests/e2e/prometheus.sh
source "$E2E_FOLDER/prometheus.sh"

page() { kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/$CONTROLLER:9100/proxy$1"; }
page_has() { grep -qE -- "^$2\$" <<<"$(page "$1")"; } # PATH PATTERN

render_dashboard() { render_metrics dashboard | awk 'on { sub(/^    /, ""); print } /^  slurm-k8s.json: / { on = 1 }'; }
# The query of KEDA's example, for partition main of this release.
keda_query() {
  awk 'on { print } /query: >-/ { on = 1 }' "$E2E_FOLDER/../../examples/autoscaling/keda.yaml" |
    sed "s/namespace=\"slurm\"/namespace=\"$NAMESPACE\"/; s/partition=\"compute\"/partition=\"main\"/" | tr '\n' ' '
}

test_slurms_own_names() {
  local running held
  running=$(submit --account=physics -w compute-0 --wrap 'sleep 300')
  held=$(submit --account=physics --hold --array=1-5 --wrap 'true')
  wait_job "$running" RUNNING 60
  wait_for 60 "the job's node is up" page_has /metrics/nodes 'slurm_node_cpus_alloc\{node="compute-0"\} [12]'
  wait_for 40 "jobs" page_has /metrics/jobs 'slurm_jobs_running 1'
  page_has /metrics/jobs 'slurm_jobs_hold 5' || fail "$(page /metrics/jobs)"
  page_has /metrics/jobs 'slurm_k8s_jobs_pending\{reason="JobHeldUser"\} 5' || fail "$(page /metrics/jobs)"
  page_has /metrics/jobs-users-accts 'slurm_user_jobs_running\{username="slurm"\} 1' ||
    fail "$(page /metrics/jobs-users-accts)"
  page_has /metrics/jobs-users-accts 'slurm_account_jobs_pending\{account="physics"\} 5' ||
    fail "$(page /metrics/jobs-users-accts)"
  page_has /metrics/nodes 'slurm_nodes 8' || fail "$(page /metrics/nodes)"
  page_has /metrics/nodes 'slurm_nodes_powered_down 7' || fail "$(page /metrics/nodes)"
  page_has /metrics/partitions 'slurm_partition_nodes\{partition="main"\} 8' || fail "$(page /metrics/partitions)"
  page_has /metrics/partitions 'slurm_partition_nodes_cpus_alloc\{partition="main"\} [12]' ||
    fail "$(page /metrics/partitions)"
  page_has /metrics/scheduler 'slurm_schedule_cycle_cnt [1-9].*' || fail "$(page /metrics/scheduler)"
  slurm scancel "$running" "$held"
}

# slurmctld does not say that the partition has changed.
test_a_new_node_in_the_place_of_a_deleted_one() {
  local job
  scale 7
  wait_for 60 "7 records" has_node_count 7
  wait_for 40 "without it" page_has /metrics/partitions 'slurm_partition_nodes\{partition="main"\} 7'
  scale 8
  wait_for 60 "8 records" has_node_count 8
  job=$(submit -w compute-7 --exclusive --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  wait_for 40 "it is in use" page_has /metrics/partitions 'slurm_partition_nodes_alloc\{partition="main"\} 1'
  slurm scancel "$job"
}

# slurmctld counts its RPCs: a scrape in a loop costs it one of each kind.
test_slurmctld_is_asked_once_in_15_seconds() {
  local before after i
  rpcs() { slurm sdiag | sed -nE 's/.*REQUEST_STATS_INFO .*count:([0-9]+) .*/\1/p'; }
  page /metrics/scheduler >/dev/null
  before=$(rpcs)
  for ((i = 0; i < 20; i++)); do page /metrics/all >/dev/null; done
  after=$(rpcs)
  # One is sdiag's own; the loop may take longer than 15 s.
  ((after - before <= 4)) || fail "slurmctld was asked $((after - before)) times"
}

test_alerts() {
  local work programs
  programs=$("$E2E_FOLDER/fetch_prometheus")
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # its name of now
  trap "rm -rf '$work'" EXIT
  render_rules rules >"$work/rules.yaml"
  cp "$E2E_FOLDER/alerts.yaml" "$work"
  "$programs/promtool" test rules "$work/alerts.yaml"
  assert_equal "alerts that no test of alerts.yaml expects" "" \
    "$(comm -23 <(sed -n 's/.*- alert: //p' "$work/rules.yaml" | sort) <(expected_alerts | sort -u) | paste -sd ' ')"
}
expected_alerts() {
  sed -nE '/^ *alertname:/{N; /exp_alerts:/s/^ *alertname: ([A-Za-z]*).*/\1/p}' "$E2E_FOLDER/alerts.yaml"
}

# A value of each group.
exporter_values() {
  cat <<END
1|slurm_jobs_running_total
1|slurm_account_jobs_running_total{account="physics"}
1|slurm_user_jobs_running_total{username="slurm"}
1|slurm_partition_jobs_running_total{partition="main"}
8|slurm_nodes_total
8|slurm_partition_nodes_total{partition="main"}
2|slurm_node_cpus_total{node="compute-0"}
1|slurm_scheduler_jobs_submitted_total > bool 0
1|slurm_bfscheduler_cycle_total > bool 0
END
}
test_names_of_slinkys_exporter() {
  local work value expression
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # its name of now
  trap "queries quit || true; wait; rm -rf '$work'" EXIT
  start_prometheus "$work" || { tail -5 "$work/log" >&2; return 1; }
  submit --account=physics -w compute-0 --wrap 'sleep 600' >/dev/null
  submit --account=physics --hold --wrap true >/dev/null
  # Backfill has no cycle without a job that waits for resources.
  submit --account=physics --exclusive -w compute-0 --wrap true >/dev/null
  wait_for 120 "a series for each name" queries records || { queries records; return 1; }
  while IFS='|' read -r value expression; do
    wait_for 60 "$expression is $value" value_is "$value" "$expression" || { queries value "$expression"; return 1; }
  done < <(exporter_values)
  slurm scancel --me
}

test_every_panel_has_a_series() {
  local work
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # its name of now
  trap "queries quit || true; wait; rm -rf '$work'" EXIT
  start_prometheus "$work" || { tail -5 "$work/log" >&2; return 1; }
  render_dashboard >"$work/dashboard.json"
  # Jobs that run, fail, wait for nodes and are held.
  submit --account=physics --exclusive -N2 --wrap 'sleep 600' >/dev/null
  submit --account=chemistry --wrap 'exit 1' >/dev/null
  submit --account=chemistry --exclusive -N8 --wrap 'true' >/dev/null
  submit --account=chemistry --hold --wrap 'true' >/dev/null
  wait_for 120 "a series for each panel" queries panels "$work/dashboard.json" "$NAMESPACE" ||
    { queries panels "$work/dashboard.json" "$NAMESPACE"; return 1; }
  wait_for 60 "all rules are evaluated" queries rules || { queries rules; return 1; }
  wait_for 60 "a running job" value_is 1 'sum(slurm_jobs_running)'
  assert_equal "held jobs" 1 "$(queries value 'sum(slurm_jobs_hold)')"
  # 2 nodes in use, and a job that needs 8.
  wait_for 60 "what KEDA is told" value_is 10 "$(keda_query)"
  slurm scancel --me
}
