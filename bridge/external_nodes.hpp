// SPDX-License-Identifier: GPL-2.0-or-later
// ExternalNodes: the Slurm nodes of NodeSets with scalingMode External, which have no pod that tells their Kubernetes
// node: their names do. The thread of one event loop.
#pragma once

#include <map>
#include <set>
#include <string>

#include "bridge/pod_jobs.hpp"
#include "json/json.hpp"
#include "nodeset/nodeset.hpp"

namespace slurmk8s {

class ExternalNodes {
 public:
  /** `kube_node_of` gets their Kubernetes nodes, beside what else is in it; it must outlive this. */
  explicit ExternalNodes(KubeNodes& kube_node_of) : kube_node_of_(kube_node_of) {}

  /** A NodeSet as the API has it. One that is invalid, or of another mode, has no such nodes. */
  void set_nodeset(const Json& object);
  void remove_nodeset(const std::string& name);
  void add_kube_node(const std::string& name);
  void remove_kube_node(const std::string& name);

  /** There is no such NodeSet. */
  bool empty() const { return nodesets_.empty(); }

 private:
  KubeNodes& kube_node_of_;
  std::map<std::string, NodeSet> nodesets_;
  std::set<std::string> kube_nodes_;
};

}  // namespace slurmk8s
