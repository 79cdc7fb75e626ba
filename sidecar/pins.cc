// SPDX-License-Identifier: GPL-2.0-or-later
// plan_pins(): from pods to pins.
#include "sidecar/pins.hpp"

#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "sidecar/kube_node_match.hpp"

namespace slurmk8s {

Pins plan_pins(const NodeSet& nodeset, const Pins& before, const std::map<std::string_view, const SlurmNode*>& records,
               const Pods& pods, const KubeNodes* kube_nodes) {
  if (!nodeset.pins_nodes) return {};
  if (kube_nodes == nullptr) return before;
  const auto is_there = [&](std::int64_t ordinal) {
    return ordinal < nodeset.replicas || records.contains(node_name(nodeset.name, ordinal, nodeset.ordinal_padding));
  };
  Pins pins;
  const auto pin = [&](std::int64_t ordinal, const std::string& name) {
    const auto kube_node = kube_nodes->find(name);
    if (kube_node == kube_nodes->end() || !is_selected(name, kube_node->second, nodeset.pod_spec)) return;
    pins.insert_or_assign(std::to_string(ordinal), name);
  };
  for (const auto& [ordinal, kube_node] : before) {
    const std::optional<std::int64_t> number = parse_int(ordinal);
    if (number && is_there(*number)) pin(*number, kube_node);
  }
  for (const auto& [name, node] : records) {
    const std::optional<NodeName> parsed = parse_node_name(name);
    const auto pod = pods.find(name);
    if (parsed && pod != pods.end()) pin(parsed->ordinal, pod->second.kube_node);
  }
  return pins;
}

}  // namespace slurmk8s
