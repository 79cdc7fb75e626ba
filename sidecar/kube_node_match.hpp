// SPDX-License-Identifier: GPL-2.0-or-later
// Which Kubernetes nodes a NodeSet's pods fit on, as Kubernetes' scheduler decides it. Pure; any thread.
//
// Requests of a pod (CPUs, memory, devices, ports, volumes, other pods) are not checked: a pod without room on its
// Kubernetes node stays Pending, as a DaemonSet's does.
#pragma once

#include <map>
#include <string>

#include "nodeset/nodeset.hpp"
#include "sidecar/kube_node_facts.hpp"

namespace slurmk8s {

/** Whether nodeSelector and the required nodeAffinity of a pod's spec choose this Kubernetes node. */
bool is_selected(const std::string& name, const KubeNodeFacts& kube_node, const Json& pod_spec);

/** The nodes that scalingMode DaemonSet wants. */
struct DaemonNodes {
  /**
   * By Slurm's name: whether the Kubernetes node is ready. While it is not, its node stays up if it is, and is not
   * powered up.
   */
  std::map<std::string, bool> wanted;
  std::vector<std::string> too_long;  ///< names longer than a host name may be
};

/** One for each Kubernetes node that is selected, not cordoned, and without a taint that the pods do not tolerate. */
DaemonNodes choose_daemon_nodes(const NodeSet& nodeset, const KubeNodes& kube_nodes);

}  // namespace slurmk8s
