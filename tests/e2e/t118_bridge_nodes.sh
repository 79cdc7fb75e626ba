# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes that the bridge's pods and Slurm's jobs share: a job waits for pods that end, and no CPU is given twice.
#
# Release: bridge-nodes

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"
# shellcheck source=tests/e2e/bridge_load.sh
source "$E2E_FOLDER/bridge_load.sh"

# shellcheck disable=SC2034 # that of bridge.sh
SCHEDULER=slurm-k8s-bridge-nodes

# A pod that does not end after Slurm has ended its job, until tell_to_end slow. Sets `node`, which is free for Slurm.
end_job_of_slow_pod() {
  local job
  GRACE=250 put_pod slow "trap '' TERM; until test -e /tmp/end; do sleep 0.2; done"
  wait_for 90 "the pod runs" pod_is slow Running
  job=$(pod_job slow)
  node=$(job_nodes "$job")
  slurm scancel "$job"
  wait_job "$job" CANCELLED 10
}
is_configuring_beside() { # JOB POD
  [[ $(job_state "$1") == CONFIGURING ]] && pod_is "$2" Running
}
# Whether the pod was there still when the job had begun: neither is asked about twice at one moment.
began_beside() { # JOB POD
  wait_for 60 "job $1 has begun" is_job_in "$1" "RUNNING COMPLETED"
  pod_is "$2" Running
}

test_a_job_waits_for_pods_that_end() {
  local node next
  enable_bridge
  end_job_of_slow_pod
  next=$(submit -w "$node" --exclusive --wrap 'sleep 5')
  wait_for "it has the node, and waits" is_configuring_beside "$next" slow
  stays 4 is_configuring_beside "$next" slow
  tell_to_end slow
  if began_beside "$next" slow; then fail "job and pod shared $node"; fi
  wait_done "$next" 30
}

# Its owner gives back the node of a pod that runs on.
test_a_job_waits_for_pods_of_a_smaller_job() {
  local job kept given next pod
  enable_bridge
  kubectl apply -f - >/dev/null <<'END'
{"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "pair",
 "annotations": {"job.slurm-k8s.io/pods-per-node": "1"}}, "spec": {"minMember": 2}}
END
  for pod in one two; do put_pod "$pod" 'sleep 600' ', "labels": {"scheduling.x-k8s.io/pod-group": "pair"}'; done
  for pod in one two; do wait_for 90 "$pod runs" pod_is "$pod" Running; done
  job=$(pod_job one)
  read -r kept given <<<"$(job_nodes "$job" | paste -sd ' ')" # in order of rank
  slurm scontrol update jobid="$job" NodeList="$kept"
  assert_equal "its nodes" "$kept" "$(job_nodes "$job")"
  sleep 10 # nothing tells the bridge, which lists all jobs every 3 s
  next=$(submit -w "$given" --exclusive --wrap 'sleep 1')
  wait_for "it has the node, and waits" is_configuring_beside "$next" two
  stays 4 is_configuring_beside "$next" two
  kubectl delete pod two --wait=false >/dev/null
  wait_done "$next" 60
  assert_equal "the job of the other pod" RUNNING "$(job_state "$job")"
  kubectl delete pod/one podgroups.scheduling.x-k8s.io/pair --wait=false >/dev/null
}

test_a_new_slurmctld_waits_for_pods_that_end() {
  local node next
  enable_bridge
  end_job_of_slow_pod
  wait_saved # the end of the job, which a killed slurmctld forgets otherwise
  kill_container slurmctld
  next=$(submit -w "$node" --exclusive --wrap 'sleep 5')
  wait_for "it has the node, and waits" is_configuring_beside "$next" slow
  tell_to_end slow
  if began_beside "$next" slow; then fail "job and pod shared $node"; fi
  wait_done "$next" 30
}

cpus_of_all_nodes() { slurm sinfo -h -o %C | cut -d / -f 4; }
memory_of_all_nodes() { slurm sinfo -h -o %m; }
with_one_node() {
  trap 'scale 8' EXIT
  scale 1
  wait_for 60 "one node" has_node_count 1
}

# B4: 40 pods and 40 jobs of one CPU each.
share_one_node() { # MODE
  local most cpus
  enable_bridge
  with_one_node
  cpus=$(cpus_of_all_nodes)
  most=$(run_mixed_load "$1" 40 16)
  echo "# mode $1: at most $most processes on $cpus CPUs" >&2
  ((most >= cpus / 2)) || fail "only $most processes on $cpus CPUs at a time: this shows nothing"
  ((most <= cpus)) || fail "$most processes on $cpus CPUs"
}
test_no_cpu_is_given_twice() { share_one_node direct; }
test_no_cpu_is_given_twice_by_kube_scheduler() { share_one_node gate; }

# B4: there are CPUs for two processes, and memory for one.
test_no_memory_is_given_twice() {
  local most cpus memory
  enable_bridge
  with_one_node
  cpus=$(cpus_of_all_nodes)
  memory=$(memory_of_all_nodes)
  ((cpus > 1)) || fail "the node has $cpus CPU: this shows nothing"
  most=$(run_mixed_load direct 10 "$((memory * 6 / 10))")
  echo "# at most $most processes of $((memory * 6 / 10)) MiB beside $memory MiB" >&2
  assert_equal "processes at a time" 1 "$most"
}

# B4: what the tests above would be without the engine: otherwise they show nothing.
test_without_the_engine_they_meet() {
  local node next most cpus
  enable_bridge
  upgrade_bridge --set-json 'bridge.args=["--without-engine"]' --wait --timeout 180s
  wait_for 90 "slurmctld up" controller_ready
  end_job_of_slow_pod
  next=$(submit -w "$node" --exclusive --wrap 'sleep 5')
  began_beside "$next" slow || fail "job $next did not meet the pod"
  tell_to_end slow
  slurm scancel "$next"
  with_one_node
  cpus=$(cpus_of_all_nodes)
  for _ in 1 2 3; do # fewer run at a time on a busy machine
    most=$(run_mixed_load direct 40 16)
    ((most <= cpus)) || break
  done
  echo "# without the engine: $most processes on $cpus CPUs" >&2
  ((most > cpus)) || fail "only $most processes on $cpus CPUs: the load of the other test shows nothing"
  upgrade_bridge --wait --timeout 180s
  wait_for 90 "slurmctld up" controller_ready
}
