// SPDX-License-Identifier: GPL-2.0-or-later
// plan_pins(): from pods to pins.
#include "sidecar/pins.hpp"

#include "base/text.hpp"
#include "nodeset/names.hpp"
#include "sidecar/kube_node_match.hpp"

namespace slurmk8s {

Pins plan_pins(const NodeSet& nodeset, const Pins& before, const std::map<std::string_view, const SlurmNode*>& records,
               const Pods& pods, const Machines* machines) {
  if (!nodeset.pins_nodes) return {};
  if (machines == nullptr) return before;
  const auto is_there = [&](std::int64_t ordinal) {
    return ordinal < nodeset.replicas || records.contains(node_name(nodeset.name, ordinal, nodeset.ordinal_padding));
  };
  Pins pins;
  const auto pin = [&](std::int64_t ordinal, const std::string& name) {
    const auto machine = machines->find(name);
    if (machine == machines->end() || !is_selected(name, machine->second, nodeset.pod_spec)) return;
    pins.insert_or_assign(std::to_string(ordinal), name);
  };
  for (const auto& [ordinal, machine] : before) {
    const std::optional<std::int64_t> number = parse_int(ordinal);
    if (number && is_there(*number)) pin(*number, machine);
  }
  for (const auto& [name, node] : records) {
    const std::optional<NodeName> parsed = parse_node_name(name);
    const auto pod = pods.find(name);
    if (parsed && pod != pods.end()) pin(parsed->ordinal, pod->second.machine);
  }
  return pins;
}

}  // namespace slurmk8s
