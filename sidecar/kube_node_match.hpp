// SPDX-License-Identifier: GPL-2.0-or-later
// Which Kubernetes nodes a NodeSet's pods fit on, as Kubernetes' scheduler decides it. Pure; any thread.
//
// What a pod asks for (CPUs, memory, devices, ports, volumes, other pods) isn't looked at: a pod that finds no room on
// its Kubernetes node waits there, as a DaemonSet's does.
#pragma once

#include <map>
#include <string>

#include "nodeset/nodeset.hpp"
#include "sidecar/kube_node_facts.hpp"

namespace slurmk8s {

/** Whether nodeSelector and the required nodeAffinity of a pod's spec choose this Kubernetes node. */
bool is_selected(const std::string& name, const MachineFacts& machine, const Json& pod_spec);

/** The nodes that scalingMode DaemonSet wants. */
struct MachineNodes {
  /** By Slurm's name: whether the Kubernetes node is ready. When it isn't, what is up stays, and nothing is begun. */
  std::map<std::string, bool> wanted;
  std::vector<std::string> too_long;  ///< names that no host can have
};

/** One for each Kubernetes node that is selected, isn't cordoned and has no taint that the pods don't tolerate. */
MachineNodes choose_machine_nodes(const NodeSet& nodeset, const Machines& machines);

}  // namespace slurmk8s
