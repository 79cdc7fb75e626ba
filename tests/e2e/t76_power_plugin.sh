# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm up to 23.11 without prep/k8s: power/k8s starts the engine, and jobs are launched when their nodes have
# registered. And a reconfiguration loads the plugins again when their list changes.

with_power_plugin() { install_release --set controller.extraConfMap.PowerPlugin=power/k8s "$@"; }

test_power_plugin_launches_at_once() {
  local job out start
  needs_slurm_before 24.05
  trap install_release EXIT
  with_power_plugin --set controller.extraConfMap.PrEpPlugins=prep/script
  assert_equal PrEpPlugins prep/script "$(slurm scontrol show config | sed -nE 's/^PrEpPlugins +=? ?//p' | tr -d ' =')"
  slurm bash -c 'grep -q libslurm_k8s_engine.so /proc/"$(pgrep -x slurmctld | head -1)"/maps' ||
    fail "no engine in slurmctld"
  # slurmctld's own check comes every 30 s: three in a row within half of it are the plugin's.
  for _ in 1 2 3; do
    start=$(now_ms)
    job=$(submit -N2 --exclusive --wrap 'srun hostname')
    wait_done "$job" 60
    (($(now_ms) - start < 15000)) || fail "job $job took $(($(now_ms) - start)) ms"
    slurm scontrol update nodename=compute-[0-1] state=power_down_force reason=e2e
    wait_for 60 "no pod" has_pod_count 0
    wait_for "all nodes powered down" all_idle_and_down
  done
  out=$(slurm srun -N2 hostname | sort | paste -sd' ' -)
  assert_equal srun "compute-0 compute-1" "$out"
}

test_with_both_plugins_prep_does_it() {
  local job
  needs_slurm_before 24.05
  trap install_release EXIT
  with_power_plugin
  # One engine, and one that holds jobs.
  assert_equal "engines" 1 "$(kubectl logs slurm-controller-0 -c slurmctld | grep -c 'slurm-k8s: engine started')"
  job=$(submit -N2 --wrap 'srun hostname')
  wait_done "$job" 60
}

# Under all of slurmctld's locks, for which the plugin's threads wait. The nodes of a job that is being configured stay
# ALLOCATED for ever after that (22.05.8): the release is no other test's.
test_a_reconfiguration_with_other_plugins() {
  local job
  needs_slurm_before 23.11
  trap 'let_pods_start; remove_release; install_release' EXIT
  install_release
  hold_pods
  job=$(submit -N2 --wrap 'srun hostname')
  wait_for "job $job has its nodes" is_job_in "$job" CONFIGURING
  kubectl get configmap slurm-config -o yaml |
    sed 's|PrEpPlugins=prep/k8s$|PrEpPlugins=prep/k8s,prep/script|' | kubectl replace -f - >/dev/null
  has_other_plugins() { ctld grep -qx 'PrEpPlugins=prep/k8s,prep/script' /etc/slurm/slurm.conf; }
  wait_for 120 "the kubelet writes the file" has_other_plugins
  timeout 30 "$BED" slurm scontrol reconfigure || fail "slurmctld does not answer"
  timeout 10 "$BED" slurm scontrol ping | grep -q 'is UP' || fail "slurmctld hangs"
  let_pods_start
  wait_done "$job" 60
  job=$(submit -N2 --wrap 'srun hostname')
  wait_done "$job" 60
}
