# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A cluster with a NodeSet whose jobs are confined, on a Kubernetes node that cannot: the other NodeSets are as before,
# and the one says what it lacks. What a confinement does is in tests/vm/t60_confinement.sh.

confine() { # CONFINEMENT
  trap 'slurm scancel --me; install_release' EXIT # a node with a job stays
  install_release --set nodesets.confined.replicas=0 --set "nodesets.confined.confinement=$1"
  kubectl scale nodesets.slurm-k8s.io/confined --replicas=1 >/dev/null
  wait_for "its node" has_node_count 9
}

test_other_nodesets_are_as_before() {
  local job neighbour
  needs_slurm 24.11
  confine Cgroup
  assert_equal TaskPlugin task/cgroup "$(setting TaskPlugin)"
  neighbour=$(submit -w compute-0 -n1 --mem=40 --wrap 'sleep 300')
  wait_job "$neighbour" RUNNING 60
  assert_equal "slurmd's part of cgroup.conf" CgroupPlugin=cgroup/v1 \
    "$(kubectl exec compute-0 -c slurmd -- cat /run/slurm-k8s/cgroup.conf)"
  # The watch ends a job over its memory, and slurmd reads its files again.
  slurm scontrol reconfigure
  job=$(submit --requeue -w compute-0 -n1 --mem=40 --wrap \
    "python3 -c 'import time; memory = b\"x\" * (100 << 20); time.sleep(60)'")
  wait_job "$job" OUT_OF_MEMORY 60
  is_job_in "$neighbour" RUNNING || fail "its neighbour is $(job_state "$neighbour")"
  slurm srun --overlap --jobid "$neighbour" true
}

# It has cgroup version 1, or containerd leaves the cgroup read-only.
test_a_pod_without_a_cgroup_says_so() {
  local job
  needs_slurm 24.11
  confine Cgroup
  job=$(submit -w confined-0 -n1 --wrap true)
  wait_for 60 "the job is told" is_told "$job" "fatal: confinement Cgroup: "
}

# By the chart's policy, as other templates.
test_privileged_needs_the_namespaces_consent() {
  local job
  needs_slurm 24.11
  confine Privileged
  job=$(submit -w confined-0 -n1 --wrap true)
  wait_for 60 "the job is told" is_told "$job" "above Pod Security level baseline"
}
