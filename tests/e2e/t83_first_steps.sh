# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a user of other Slurm clusters takes for granted.

without_slow() {
  slurm scancel --me >/dev/null 2>&1 || true
  kubectl delete nodesets.slurm-k8s.io slow --ignore-not-found >/dev/null
  wait_for 60 "only the chart's nodes" has_nodes 'compute-[0-7]'
}
has_pod() { kubectl get pod "$1"; }

was_powered_down_unused() {
  kubectl logs slurm-controller-0 -c sidecar --since=2m | grep 'nodeset slow: power_down slow-0'
}

# The pod takes 20 s to start. It goes since the sidecar asks for it, and not after SuspendTime.
test_a_cancelled_job_takes_its_pod_with_it() {
  local image job
  trap without_slow EXIT
  image=$(kubectl get nodesets.slurm-k8s.io compute -o jsonpath='{.spec.slurmd.image}')
  kubectl apply -f - >/dev/null <<END
{"apiVersion": "slurm-k8s.io/v1alpha1", "kind": "NodeSet", "metadata": {"name": "slow", "namespace": "$NAMESPACE"},
 "spec": {"replicas": 1,
          "slurmd": {"image": "$image",
                     "resources": {"requests": {"cpu": "10m"}, "limits": {"cpu": "1", "memory": "512Mi"}}},
          "template": {"spec": {"initContainers": [{"name": "wait", "image": "$image", "command": ["sleep", "20"]}]}}}}
END
  wait_for "the node" node_has_state slow-0 IDLE
  job=$(submit -N1 -w slow-0 --wrap 'sleep 60')
  wait_for "a pod" has_pod slow-0
  assert_equal "job" CONFIGURING "$(job_state "$job")"
  slurm scancel "$job"
  wait_for "no pod of slow-0" has_no_pod slow-0
  wait_for "the sidecar's request" was_powered_down_unused
  # It serves again.
  job=$(submit -N1 -w slow-0 --wrap true)
  wait_done "$job" 90
}

# With the chart's default, which tests/e2e/values.yaml changes.
test_small_jobs_share_a_node() {
  local a b
  trap install_release EXIT
  install_release --set slurm.defMemPerCPU=auto
  a=$(submit -n1 -w compute-0 --wrap 'sleep 600')
  b=$(submit -n1 -w compute-0 --wrap 'sleep 600')
  wait_job "$a" RUNNING 60
  wait_job "$b" RUNNING 10
  assert_equal "states" "RUNNING RUNNING" "$(job_state "$a") $(job_state "$b")"
  assert_equal "memory of a job that asks for none" 480M "$(job_field "$a" MinMemoryCPU)"
  slurm scancel "$a" "$b"
}

# Where the chart has no sharedHome. The output of a job in /dev has no such end.
test_sbatch_says_that_the_output_goes_with_the_pod() {
  local note="/tmp is below no shared path (there is none), and may be deleted with the pod of the job's first node"
  needs_slurm 23.02
  assert_equal "sbatch" "sbatch: output file: $note" \
    "$(slurm sbatch --begin=now+1day --chdir=/tmp --wrap true 2>&1 | grep -v '^Submitted' || true)"
  assert_equal "sbatch --output=/dev/null" "" \
    "$(slurm sbatch --begin=now+1day --chdir=/tmp --output=/dev/null --wrap true 2>&1 | grep -v '^Submitted' || true)"
  slurm scancel --me
}

is_het_done() { [[ $(slurm squeue -h -j "$1" | grep -c . || true) == 0 && $(job_state "$1") == COMPLETED ]]; }
# Backfill alone starts it, by default every 30 s.
test_a_heterogeneous_job_starts_soon() {
  local job start
  assert_equal "seconds between two cycles of backfill" bf_interval=5 \
    "$(slurm scontrol show config | grep -oE 'bf_interval=[0-9]+')"
  slurm srun -N2 -w 'compute-[0-1]' true
  start=$(now_ms)
  job=$(slurm sbatch --parsable --output=/dev/null --wrap 'srun --het-group=0,1 true' \
    -N1 -w compute-0 : -N1 -w compute-1)
  within 25 "heterogeneous job $job done" is_het_done "$job"
  echo "# heterogeneous job on nodes that are up: $(($(now_ms) - start)) ms" >&2
}

test_everyday_tools() {
  local tool
  assert_equal LANG C.UTF-8 "$(slurm srun -N1 bash -c 'echo $LANG')"
  assert_equal "LANG of slurmctld's pod" C.UTF-8 "$(slurm bash -c 'echo $LANG')"
  for tool in curl file less nano ping python3 ssh vi; do
    slurm bash -c "command -v $tool" >/dev/null || fail "slurmctld's image has no $tool"
    slurm srun -N1 bash -c "command -v $tool" >/dev/null || fail "slurmd's image has no $tool"
  done
}
