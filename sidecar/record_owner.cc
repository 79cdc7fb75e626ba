// SPDX-License-Identifier: GPL-2.0-or-later
// record_owner(): from names and features to NodeSets.
#include "sidecar/record_owner.hpp"

#include "base/strings.hpp"
#include "nodeset/names.hpp"
#include "nodeset/nodeset.hpp"

namespace slurmk8s {

std::optional<std::string> record_owner(const SlurmNode& record, const NodeSets& nodesets) {
  if ((!record.cloud && !record.external) || !record.dynamic) return std::nullopt;
  if (const auto parsed = parse_node_name(record.name)) {
    const auto found = nodesets.find(std::string(parsed->nodeset));
    const bool is_per_kube_node =
        found != nodesets.end() && found->second.spec.ok() && found->second.spec->is_per_kube_node();
    if (found != nodesets.end() && !is_per_kube_node) return found->first;
  }
  std::string_view longest;
  for (const std::string_view feature : split(record.features, ',')) {
    if (feature.size() > longest.size() && is_made_for(record, feature)) longest = feature;
  }
  return longest.empty() ? std::nullopt : std::optional(std::string(longest));
}

bool is_name_of(const std::string& nodeset, const std::string& node, const NodeSets& nodesets) {
  return nodeset == owner_name(node, [&](const std::string& name) {
           const auto found = nodesets.find(name);
           return found == nodesets.end() ? nullptr : &found->second.spec;
         });
}

}  // namespace slurmk8s
