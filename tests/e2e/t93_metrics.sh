# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm's state as metrics, and what the chart has for Prometheus and Grafana, with a Prometheus of Debian on the bed.
#
# Release: metrics

# shellcheck source=tests/e2e/prometheus.sh
source "$E2E_FOLDER/prometheus.sh"

page() { kubectl get --raw "/api/v1/namespaces/$NAMESPACE/pods/$CONTROLLER:9100/proxy$1"; }
page_has() { grep -qE -- "^$2\$" <<<"$(page "$1")"; } # PATH PATTERN

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
  wait_for "jobs" page_has /metrics/jobs 'slurm_jobs_running 1'
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

# Names and labels of a page.
series_of() { sed -nE 's/^(slurm_[a-z0-9_]+)(\{([a-z]+)=.*)? [-+.0-9e]+$/\1 \3/p' | grep -v '^slurm_k8s_' | sort -u; }

# Slurm's own pages, with jobs and nodes for each.
test_slurm_has_the_same_names() {
  local page ours theirs running held
  needs_slurm 25.11
  install_release --set controller.extraConfMap.MetricsType=metrics/openmetrics
  kill_container slurmctld # it loads the plugin when it starts
  wait_for 60 "slurmctld up" controller_ready
  running=$(submit --account=physics -w compute-0 --wrap 'sleep 600')
  held=$(submit --account=physics --hold --wrap 'true')
  wait_job "$running" RUNNING 90
  wait_for "the job" page_has /metrics/jobs 'slurm_jobs_running 1'
  for page in jobs jobs-users-accts nodes partitions scheduler; do
    ours=$(page "/metrics/$page" | series_of)
    theirs=$(slurm curl -sS --max-time 30 "http://localhost:6817/metrics/$page" | series_of)
    [[ $theirs ]] || fail "Slurm has no $page"
    # Slurm 25.11 and 26.05 show it as a second slurm_nodes_powering_up (metrics/openmetrics/openmetrics.c:432).
    ours=$(grep -v '^slurm_nodes_powering_down ' <<<"$ours")
    echo "# $page: $(grep -c . <<<"$theirs") of Slurm"
    assert_equal "names of $page that Slurm alone has" "" "$(comm -13 <(echo "$ours") <(echo "$theirs"))"
    assert_equal "names of $page that Slurm does not have" "" "$(comm -23 <(echo "$ours") <(echo "$theirs"))"
  done
  slurm scancel "$running" "$held"
}

# slurmctld does not say that the partition has changed.
test_a_new_node_in_the_place_of_a_deleted_one() {
  local job
  scale 7
  wait_for 60 "7 records" has_node_count 7
  wait_for "without it" page_has /metrics/partitions 'slurm_partition_nodes\{partition="main"\} 7'
  scale 8
  wait_for 60 "8 records" has_node_count 8
  job=$(submit -w compute-7 --exclusive --wrap 'sleep 300')
  wait_job "$job" RUNNING 60
  wait_for "it is in use" page_has /metrics/partitions 'slurm_partition_nodes_alloc\{partition="main"\} 1'
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
  wait_for_queries 120 "a series for each name" records
  while IFS='|' read -r value expression; do
    wait_for 60 "$expression is $value" value_is "$value" "$expression" || { queries value "$expression"; return 1; }
  done < <(exporter_values)
  slurm scancel --me
}

# Users of the images, with an account each.
USERS=(65534:nobody:physics 34:backup:chemistry 8:mail:biology)

submit_as() { # ID OPTION…
  slurm --user "$1" sbatch --parsable --chdir=/tmp --output=/dev/null --mem=64M "${@:2}"
}
# 210 jobs. Prints the ids of some.
submit_load() {
  local user id account
  for user in "${USERS[@]}"; do
    IFS=: read -r id _ account <<<"$user"
    submit_as "$id" --account="$account" --array=1-60 --wrap 'sleep 3' >/dev/null
  done
  submit_as 34 --account=chemistry --array=1-10 --wrap 'exit 1' >/dev/null
  submit_as 8 --account=biology --hold --array=1-5 --wrap 'sleep 600' >/dev/null
  echo unwanted="$(submit_as 8 --account=biology --array=1-12 --begin=now+1hour --wrap 'sleep 600')"
  echo wide="$(submit --account=physics --exclusive -N8 --wrap 'true')"
}
counted() { queries value "sum($1)"; } # METRIC
is_counted() { (($(counted "$2") >= $1)); } # NUMBER METRIC
has_alert() { queries value "count(ALERTS{alertname=\"$1\"})"; }
running_tasks() { slurm squeue --noheader --array --states=running --user=nobody --format=%i | head -"$1"; } # NUMBER
jobs_of() { # USER [STATES]
  slurm squeue --noheader --array --states="${2:-all}" --user="$1" --format=%i | grep -c . || true
}
small_jobs_have_ended() { (($(jobs_of nobody,backup pending,running,completing,configuring) == 0)); }

# What squeue and Prometheus say: STATE=NUMBER for each.
states_of_slurm() {
  slurm squeue --noheader --array --states=all --format=%T | sed 's/NODE_FAIL/NODE_FAILED/' |
    tr '[:upper:]' '[:lower:]' | sort | uniq -c | awk '{ print $2 "=" $1 }'
}
states_of_prometheus() {
  local state
  for state in cancelled completed failed node_failed pending running timeout; do
    echo "$state=$(counted "slurm_jobs_$state")"
  done
}
lacks_only() { [[ $(queries alert_metrics | sed 's/: .*//' | paste -sd ' ') == "$1" ]]; }
has_resume_timeout() { [[ $(setting ResumeTimeout) == "$1" ]]; }
states_agree() { [[ $(states_of_slurm) == "$(states_of_prometheus)" ]]; }
users_agree() {
  local user name account
  for user in "${USERS[@]}"; do
    IFS=: read -r _ name account <<<"$user"
    [[ $(jobs_of "$name") == "$(counted "slurm_user_jobs{username=\"$name\"}")" ]] &&
      [[ $(slurm squeue --noheader --array --states=all --account="$account" | grep -c .) == \
        "$(counted "slurm_account_jobs{account=\"$account\"}")" ]] || return 1
  done
}

# A node that is DOWN, of a NodeSet that is not ready: its Gres end slurmctld.
put_other_nodeset() {
  local image
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "other"},
 "spec": {"replicas": 1, "slurmd": {"image": "$image", "resources": {"limits": {"cpu": "1", "memory": "512Mi"}}}}}
END
  wait_for "its node" node_has_state other-0 IDLE
  slurm scontrol update nodename=other-0 state=down reason=e2e
  kubectl patch nodesets.slurm-k8s.io other --type=merge \
    --patch '{"spec": {"extraConf": "Gres=foo:a:1,foo:1"}}' >/dev/null
}
remove_other_nodeset() {
  slurm scontrol update nodename=other-0 state=resume
  kubectl delete nodesets.slurm-k8s.io other >/dev/null
  wait_for 60 "only the chart's nodes" has_nodes 'compute-[0-7]'
}

end_load() {
  let_pods_start
  kubectl delete resourcequota few --ignore-not-found >/dev/null
  remove_other_nodeset
  slurm --user 0 scancel --user=nobody
  slurm --user 0 scancel --user=backup
  slurm --user 0 scancel --user=mail
  queries quit || true
  wait
  rm -rf "$work"
}

# From zero pods: one is refused by a quota, the others find no Kubernetes node for a while. One is deleted under its
# job, a node is drained; jobs are requeued, cancelled, fail and run into their limit.
test_every_panel_and_alert_under_load() {
  local work there since lost late unwanted wide shown task
  # Pods are held until an alert is there, which may take longer than the 90 s of other tests.
  remove_release # jobs of earlier files would stay for MinJobAge
  install_release --set slurm.resumeTimeout=300,controller.extraConfMap.MinJobAge=1800
  wait_for 60 "the longer ResumeTimeout" has_resume_timeout '300 sec'
  work=$(mktemp -d)
  trap end_load EXIT
  put_other_nodeset
  hold_pods
  there=$(kubectl get pods --field-selector status.phase!=Succeeded,status.phase!=Failed -o name | grep -c .)
  # As without the chart, with seconds that a test can wait for.
  RULES_SECONDS=20 start_prometheus "$work" || { tail -5 "$work/log" >&2; return 1; }
  wait_for "the counters, before the load" counted slurm_k8s_engine_api_errors_total
  since=$(date +%s) # before the first scrape there is an alert, too
  lost=$(submit --account=physics --no-requeue --exclusive -w compute-6 --wrap 'sleep 600')
  late=$(submit --account=physics --time=2 --mem=64M -w compute-7 --wrap 'sleep 600')
  wait_for "the pods of both jobs, before the quota" kubectl get pod compute-6 compute-7
  kubectl create quota few --hard="pods=$((there + 7))" >/dev/null
  eval "$(submit_load)"
  wait_for 60 "a refused pod" is_counted 1 slurm_k8s_engine_api_errors_total
  kubectl delete resourcequota few >/dev/null
  wait_for 200 "an alert of jobs that wait for pods" has_alert SlurmJobsWaitForPods
  # Of the job of all nodes, which may start as soon as job late has ended.
  wait_for 60 "an alert of a pending job" has_alert SlurmJobsPending
  let_pods_start
  echo "# pods were held for $(($(date +%s) - since)) s"

  wait_job "$lost" RUNNING 90
  wait_job "$late" RUNNING 60
  wait_for 60 "jobs that run" is_counted 8 slurm_jobs_running
  for task in $(running_tasks 4); do slurm --user 0 scontrol requeue "$task"; done
  kubectl delete pod compute-6 --wait=false >/dev/null
  slurm scontrol update nodename=compute-7 state=drain reason=e2e # has a job for two minutes
  wait_for 60 "a node that drains" is_counted 1 slurm_nodes_draining
  slurm --user 8 scancel "$unwanted"
  wait_job "$lost" NODE_FAIL 60
  wait_for 60 "an alert of a node that is DOWN" has_alert SlurmNodesDown
  wait_for 60 "an alert of the NodeSet" has_alert SlurmNodeSetNotReady
  slurm scontrol update nodename=compute-7 state=resume
  wait_for 150 "the ends of the small jobs" small_jobs_have_ended
  wait_job "$late" TIMEOUT 200
  slurm scancel "$wide"

  # Panels of nodes with a pod have no series when all are powered down.
  shown=$(submit --account=physics --wrap 'sleep 600')
  wait_job "$shown" RUNNING 90
  wait_for 60 "the states of the jobs" states_agree ||
    fail "squeue: $(states_of_slurm | paste -sd ' '); Prometheus: $(states_of_prometheus | paste -sd ' ')"
  wait_for "the jobs of users and accounts" users_agree
  wait_for_queries 60 "all rules are evaluated" rules
  render_dashboard >"$work/dashboard.json"
  # A scrape that took too long on a busy machine leaves none until the next.
  wait_for_queries 30 "a series for each panel" panels "$work/dashboard.json" "$NAMESPACE"
  # With GPUs: t88_gpus.
  assert_equal "panels that showed nothing but zeros" "GPUs of nodes with a pod,GPUs by user,GPUs by account" \
    "$(queries zero_panels "$work/dashboard.json" "$NAMESPACE" | paste -sd ,)"
  assert_equal "alerts" "SlurmApiServerFails SlurmJobsPending SlurmJobsWaitForPods SlurmNodeSetNotReady SlurmNodesDown \
SlurmNodesFailToPowerUp SlurmNodesLost" "$(queries alerts "$since" |
    grep -vxE 'Slurm(SidecarGone|EngineAway|PodsStartSlowly)' | paste -sd ' ')" # of a machine that stalls
  # A release with them: t115_prometheus_operator.
  wait_for 60 "metrics of alerts without a series" lacks_only "slurm_k8s_bridge_engine_up \
slurm_k8s_bridge_jobs_unknown slurm_k8s_bridge_pods_overdue slurm_k8s_bridge_refused slurm_k8s_sidecar_leader" ||
    { queries alert_metrics; return 1; }
}

test_what_keda_is_told() {
  local work
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # its name of now
  trap "queries quit || true; wait; rm -rf '$work'" EXIT
  start_prometheus "$work" || { tail -5 "$work/log" >&2; return 1; }
  submit --account=physics --exclusive -N2 --wrap 'sleep 600' >/dev/null
  submit --account=chemistry --exclusive -N8 --wrap 'true' >/dev/null
  submit --account=chemistry --hold --wrap 'true' >/dev/null
  # 2 nodes in use, and a job that needs 8.
  wait_for 120 "what KEDA is told" value_is 10 "$(keda_query)"
  assert_equal "held jobs" 1 "$(queries value 'sum(slurm_jobs_hold)')"
  slurm scancel --me
}
