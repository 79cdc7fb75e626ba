# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Topology of Slurm nodes: that of their definition, and while their pod is on a Kubernetes node with an annotation,
# that of the annotation. Slurm can change it at run time from 25.05 on.
#
# Alone: all

annotate() { kubectl annotate --overwrite node node1 "$1" >/dev/null; }
node_topology() { slurm scontrol show node "$1" -o | grep -oE '\bTopology=[^ ]*' | cut -d= -f2; }
has_topology() { [[ $(node_topology "$1") == "$2" ]]; }
switch_nodes() { slurm scontrol show topology unit="$1" | grep -oE '\bNodes=[^ ]*' | head -1 | cut -d= -f2; }
upgrade() { # HELM-OPTION…
  "$BED" helm upgrade slurm "$E2E_FOLDER/../../helm/slurm" -n "$NAMESPACE" "${VALUES[@]}" "$@" --wait --timeout 180s \
    >/dev/null
  wait_for 60 "slurmctld up" controller_ready
  scale 8  # Helm changes what its values changed, and leaves the rest as it is
}
without_topology() {
  annotate slurm-k8s.io/topology-
  scale 0
  wait_for 60 "no node records" has_node_count 0
  upgrade
  wait_for 60 "8 node records" has_node_count 8
}

# R8: topology.
test_topology_comes_and_goes_with_the_pod() {
  local job
  needs_slurm 25.05
  trap without_topology EXIT
  scale 0
  wait_for 60 "no node records" has_node_count 0
  # Leaves that have no node by themselves.
  upgrade --set-string \
    $'configFiles.topology\\.conf=SwitchName=rack1\nSwitchName=none\nSwitchName=root Switches=rack1\\,none' \
    --set controller.extraConf=TopologyPlugin=topology/tree --set nodesets.compute.extraConf=Topology=default:none
  wait_for 60 "8 node records" has_node_count 8
  assert_equal "topology of the definition" default:none "$(node_topology compute-0)"
  annotate slurm-k8s.io/topology=default:rack1
  job=$(submit -N2 -w 'compute-[0-1]' --wrap "$(runs_until seen)")
  wait_job "$job" RUNNING 60
  wait_for "topology of node1" has_topology compute-1 default:rack1
  assert_equal "nodes of the switch" 'compute-[0-1]' "$(switch_nodes rack1)"
  end_run compute-0 seen
  wait_done "$job" 60
  wait_for 60 "a cluster at zero" is_zero
  assert_equal "topology of a node without a pod" default:none "$(node_topology compute-0)"
  # And again with the next pod.
  job=$(submit -w compute-0 --wrap 'sleep 3')
  wait_done "$job" 60
  assert_equal "topology with another pod" default:rack1 "$(node_topology compute-0)"
}
