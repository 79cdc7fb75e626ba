# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Nodes that the bridge's pods and Slurm's jobs share: a job waits for pods that end, and no CPU is given twice.
#
# Release: bridge-nodes

# shellcheck source=tests/e2e/bridge.sh
source "$E2E_FOLDER/bridge.sh"

# shellcheck disable=SC2034 # that of bridge.sh
SCHEDULER=slurm-k8s-bridge-nodes

# A pod that does not end after Slurm has ended its job, until let_slow_pod_end. Sets `node`, which is free for Slurm.
end_job_of_slow_pod() {
  local job
  GRACE=250 put_pod slow "trap '' TERM; until test -e /tmp/end; do sleep 0.2; done"
  wait_for 90 "the pod runs" pod_is slow Running
  job=$(pod_job slow)
  node=$(job_nodes "$job")
  slurm scancel "$job"
  wait_job "$job" CANCELLED 10
}
let_slow_pod_end() { kubectl exec slow -- touch /tmp/end; }
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
  let_slow_pod_end
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
  sleep 45 # nothing tells the bridge, which lists all jobs every 30 s
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
  let_slow_pod_end
  if began_beside "$next" slow; then fail "job and pod shared $node"; fi
  wait_done "$next" 30
}

# Processes that use a CPU which Slurm has given away: of pods, and of jobs.
count_users() { pgrep -cf "^(pod|job)-of-$NAMESPACE" || true; }

# 40 pods and 40 jobs of one CPU each on one node, cancelled at random; pods take 2 s to end. Prints how many ran at a
# time at most. A pod waits by "read": "sleep" would be a process of its own, which counts until it has its own name.
run_mixed_load() {
  local most=0 users end running
  kubectl apply -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: mixed}
spec:
  parallelism: 40
  completions: 40
  backoffLimit: 100
  template:
    spec:
      schedulerName: $SCHEDULER
      restartPolicy: Never
      containers:
        - name: main
          image: localhost/slurm-k8s/slurmd:$IMAGE_TAG
          resources: {requests: {cpu: 10m, memory: 16Mi}}
          command:
            - bash
            - -c
            - |
              mkfifo /tmp/never && exec 3<>/tmp/never
              exec -a pod-of-$NAMESPACE bash -c 'trap "read -t 2 -u 3; exit 0" TERM; read -t 4 -u 3; exit 0'
END
  slurm bash -c "for ((i = 0; i < 40; i++)); do
    sbatch -J mixed --mem=16 --output=/dev/null --wrap \"bash -c 'exec -a job-of-$NAMESPACE sleep 3'\"; done" >/dev/null
  end=$((SECONDS + 120))
  while ((SECONDS < end)); do
    users=$(count_users)
    ((users <= most)) || most=$users
    running=$(slurm squeue -h -o '%A %t' | shuf)
    [[ $running ]] || break
    if ((RANDOM % 3 == 0)); then slurm scancel "$(awk '$2 == "R" {print $1; exit}' <<<"$running")" || true; fi
    sleep 0.1 # between two samples
  done
  kubectl delete job.batch mixed >/dev/null
  slurm scancel --name=mixed
  echo "$most"
}

cpus_of_all_nodes() { slurm sinfo -h -o %C | cut -d / -f 4; }
with_one_node() {
  trap 'scale 8' EXIT
  scale 1
  wait_for 60 "one node" has_node_count 1
}

# B4.
test_no_cpu_is_given_twice() {
  local most cpus
  enable_bridge
  with_one_node
  cpus=$(cpus_of_all_nodes)
  most=$(run_mixed_load)
  echo "# at most $most processes on $cpus CPUs" >&2
  ((most >= cpus / 2)) || fail "only $most processes on $cpus CPUs at a time: this shows nothing"
  ((most <= cpus)) || fail "$most processes on $cpus CPUs"
}

# B4: what the tests above would be without the engine: otherwise they show nothing.
test_without_the_engine_they_meet() {
  local node next most cpus
  enable_bridge
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" -f <(bridge_values) \
    --set-json 'bridge.args=["--without-engine"]' --wait --timeout 180s >/dev/null
  wait_for 90 "slurmctld up" controller_ready
  end_job_of_slow_pod
  next=$(submit -w "$node" --exclusive --wrap 'sleep 5')
  began_beside "$next" slow || fail "job $next did not meet the pod"
  let_slow_pod_end
  slurm scancel "$next"
  with_one_node
  cpus=$(cpus_of_all_nodes)
  for _ in 1 2 3; do # fewer run at a time on a busy machine
    most=$(run_mixed_load)
    ((most <= cpus)) || break
  done
  echo "# without the engine: $most processes on $cpus CPUs" >&2
  ((most > cpus)) || fail "only $most processes on $cpus CPUs: the load of the other test shows nothing"
  kubectl delete configmap slurm-bridge >/dev/null # enable_bridge then upgrades the release
}
