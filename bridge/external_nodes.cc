// SPDX-License-Identifier: GPL-2.0-or-later
// Each such NodeSet has a node for each Kubernetes node: whether slurmctld has its record decides where jobs go.
#include "bridge/external_nodes.hpp"

namespace slurmk8s {

void ExternalNodes::set_nodeset(const Json& object) {
  const std::string name(object.at({"metadata", "name"}).text());
  auto nodeset = decode_nodeset(object);
  if (!nodeset || nodeset->has_pods()) return remove_nodeset(name);
  for (const std::string& kube_node : kube_nodes_) kube_node_of_[daemon_node_name(*nodeset, kube_node)] = kube_node;
  nodesets_.insert_or_assign(name, *std::move(nodeset));
}

void ExternalNodes::remove_nodeset(const std::string& name) {
  const auto found = nodesets_.find(name);
  if (found == nodesets_.end()) return;
  for (const std::string& kube_node : kube_nodes_) kube_node_of_.erase(daemon_node_name(found->second, kube_node));
  nodesets_.erase(found);
}

void ExternalNodes::add_kube_node(const std::string& name) {
  if (!kube_nodes_.insert(name).second) return;
  for (const auto& [_, nodeset] : nodesets_) kube_node_of_[daemon_node_name(nodeset, name)] = name;
}

void ExternalNodes::remove_kube_node(const std::string& name) {
  if (kube_nodes_.erase(name) == 0) return;
  for (const auto& [_, nodeset] : nodesets_) kube_node_of_.erase(daemon_node_name(nodeset, name));
}

}  // namespace slurmk8s
