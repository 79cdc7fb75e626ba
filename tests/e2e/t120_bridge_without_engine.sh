# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bridge beside a slurmctld whose engine tells it nothing, or that has no engine: it asks slurmctld for all jobs.
#
# Release: bridge-without-engine

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

SCHEDULER=slurm-k8s-bridge-no-engine # bridges with one name would answer each other's pods
# Without an engine nothing powers nodes up or down: those that are up stay. Without job_submit/k8s, which the bridge
# brings on its own, each job would be SlurmUser's.
bridge_values() {
  values_with_one_user
  cat <<END
  args: [--without-engine]
slurm: {suspendTime: -1, nodeFeatures: {enabled: false}}
END
}

# Two nodes, both up.
prepare() {
  enable_bridge
  scale 2
  wait_for 60 "two nodes" has_node_count 2
  wait_done "$(submit -N2 --wrap 'srun hostname')" 120
}
as_ms() { date --utc --date="$1" +%s%3N; }
# By slurmctld's log and the time of the bridge's event, which it writes when the API server has bound the pod.
print_delay() { # POD JOB
  local allocated bound
  wait_for "an event of the binding" has_event "$1" Scheduled "$NAMESPACE/$1 is bound to"
  allocated=$(kubectl logs "$CONTROLLER" -c slurmctld |
    sed -nE "s/^\[?([-0-9T:.]+)\]? .*(Allocate|Started|allocate_resources) JobId=$2 .*NodeList=.*/\1/p" | tail -1)
  # The last one: an earlier test has a pod of this name, too.
  bound=$(kubectl get events.events.k8s.io --field-selector "regarding.name=$1,reason=Scheduled" \
    -o jsonpath='{range .items[*]}{.eventTime}{"\n"}{end}' | sort | tail -1)
  if [[ $allocated && $bound ]]; then
    echo "# from the allocation to the binding of $1: $(($(as_ms "$bound") - $(as_ms "${allocated}Z"))) ms" >&2
  else
    echo "# from the allocation to the binding of $1: not known ($allocated, $bound)" >&2
  fi
}

# A pod, a gang that is cancelled, and an exit code.
run_workloads() {
  local job pod
  put_pod single 'until test -e /tmp/end; do sleep 0.2; done'
  wait_for 90 "the pod runs" pod_is single Running
  job=$(pod_job single)
  assert_equal "name, state" "single RUNNING" "$(job_field "$job" JobName) $(job_state "$job")"
  print_delay single "$job"
  tell_to_end single
  wait_for "the pod has succeeded" pod_is single Succeeded
  wait_job "$job" COMPLETED 60

  kubectl apply -f - >/dev/null <<'END'
{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "pair"},
 "spec": {"minMember": 2}}
END
  put_pod one 'sleep 600' ', "labels": {"scheduling.x-k8s.io/pod-group": "pair"}'
  stays 4 pod_is one Pending
  assert_equal "jobs of half a gang" "" "$(slurm squeue -h)"
  put_pod two 'sleep 600' ', "labels": {"scheduling.x-k8s.io/pod-group": "pair"}'
  for pod in one two; do wait_for 90 "$pod runs" pod_is "$pod" Running; done
  job=$(pod_job one)
  assert_equal "one job, its tasks" "$job 2" "$(pod_job two) $(job_field "$job" NumTasks)"
  print_delay one "$job"
  slurm scancel "$job"
  for pod in one two; do wait_for 90 "$pod is gone" is_gone "$pod"; done
  wait_for "an event" has_event one Evicted "Slurm job $job: CANCELLED"
  assert_equal "the job" CANCELLED "$(job_state "$job")"
  kubectl delete podgroups.scheduling.x-k8s.io/pair >/dev/null

  put_pod fails 'exit 3'
  wait_for 90 "it has failed" pod_is fails Failed
  job=$(pod_job fails)
  wait_job "$job" FAILED 60
  assert_equal "exit code" 3:0 "$(job_field "$job" ExitCode)"
  kubectl delete pod single fails >/dev/null
}

test_the_engine_tells_nothing() {
  trap 'scale 8' EXIT
  prepare
  assert_equal "the engine's part" Bridge=no "$(ctld grep ^Bridge= /etc/slurm/slurm-k8s.conf)"
  run_workloads
}

# What slurmctld has logged since its last start.
last_start() { kubectl logs "$CONTROLLER" -c slurmctld | tac | sed '/ started on cluster /q'; }
has_engine() { controller_ready && grep -q 'engine started' <<<"$(last_start)"; }
has_no_engine() { controller_ready && ! grep -q 'engine started' <<<"$(last_start)"; }
has_plugins() { controller_ready && [[ $(slurm scontrol show config | sed -n 's/^PrEpPlugins *= //p') == "$1" ]]; }
enable_engine() {
  remove_workloads
  upgrade_bridge
  wait_for 180 "the engine is back" has_engine
  scale 8
}

# slurmctld has no prep/k8s, and so no engine. The nodes and their pods were there before.
test_a_slurmctld_without_prep_k8s() {
  trap enable_engine EXIT
  prepare
  has_engine || fail "no engine: this shows nothing"
  upgrade_bridge --set controller.extraConfMap.PrEpPlugins=prep/script
  wait_for 180 "slurmctld without prep/k8s" has_plugins prep/script
  has_no_engine || fail "it has an engine all the same: $(last_start)"
  assert_equal PrEpPlugins prep/script "$(setting PrEpPlugins)"
  are_up compute-0 compute-1 || fail "nodes: $(node_state compute-0), $(node_state compute-1)"
  run_workloads
}
