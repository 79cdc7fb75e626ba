# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm is the one that was asked for (BED_SUITE), on both sides, with our plugins and the authentication that it has.

config_value() { slurm scontrol show config | sed -nE "s/^$1 +=? ?//p" | tr -d ' ='; }

test_the_version_is_that_of_the_suite() {
  local asked
  asked=$(sed -nE 's/^slurmVersion: "(.*)"$/\1/p' "$E2E_FOLDER/suites/$SUITE.yaml")
  [[ $(slurm_version) == "$asked".* ]] || fail "slurmctld is $(slurm_version), not $asked"
  assert_equal "slurmd, srun and SPANK plugins" "slurm-wlm $(slurm_version)" "$(slurm srun -N1 slurmd -V)"
}

test_plugins_and_engine_are_in_slurmctld() {
  assert_equal PrEpPlugins prep/k8s "$(config_value PrEpPlugins)"
  local features=node_features/k8s
  if is_slurm_before 23.02; then features="(null)"; fi # docs/admin/variants.md
  assert_equal NodeFeaturesPlugins "$features" "$(config_value NodeFeaturesPlugins)"
  # The library is there: the programs don't do the engine's work. After a reconfiguration slurmctld's process may have
  # another name and pid; no other one of its container opens the library.
  slurm bash -c 'grep -ls libslurm_k8s_engine.so /proc/[0-9]*/maps | grep -c . >/dev/null' ||
    fail "no engine in slurmctld"
}

test_authentication() {
  local expected=auth/slurm
  if is_slurm_before 23.11; then expected=auth/munge; fi
  assert_equal AuthType "$expected" "$(config_value AuthType)"
  # A user of a node can sign what he sends, and can't read what it is signed with.
  slurm srun -N1 bash -c 'squeue -h >/dev/null && ! cat /run/munge/munge.key 2>/dev/null'
}
