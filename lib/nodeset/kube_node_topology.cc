// SPDX-License-Identifier: GPL-2.0-or-later
// Topology of Kubernetes nodes: the annotation, and which record it is for.
#include "nodeset/kube_node_topology.hpp"

namespace slurmk8s {

std::string decode_kube_node_topology(const Json& annotations) {
  const Json own = annotations["slurm-k8s.io/topology"];
  return std::string(own.is_null() ? annotations["topology.slinky.slurm.net/spec"].text() : own.text());
}

// A node that is powering down would lose it.
bool needs_topology(const SlurmNode& node, const std::string& wanted) {
  return node.topology && !wanted.empty() && *node.topology != wanted && !node.going_down();
}

}  // namespace slurmk8s
