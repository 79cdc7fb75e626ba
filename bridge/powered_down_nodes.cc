// SPDX-License-Identifier: GPL-2.0-or-later
// What a NodeSet's template says of Kubernetes nodes that need not exist yet.
#include "bridge/powered_down_nodes.hpp"

#include <algorithm>

#include "nodeset/names.hpp"

namespace slurmk8s {

NodeLabels required_labels(const NodeSet& nodeset) {
  NodeLabels labels;
  nodeset.pod_spec["nodeSelector"].each(
      [&](std::string_view key, const Json& value) { labels[std::string(key)] = value.text(); });
  for (const auto& [_, variant] : nodeset.variants) {
    const Json of_variant = variant.pod_spec["nodeSelector"];
    std::erase_if(labels, [&](const auto& label) { return of_variant[label.first].text() != label.second; });
  }
  return labels;
}

void PoweredDownNodes::set_nodeset(const Json& object) {
  const std::string name(object.at({"metadata", "name"}).text());
  nodesets_.erase(name);
  const auto nodeset = decode_nodeset(object);
  if (!nodeset || nodeset->is_per_kube_node()) return;
  NodeLabels labels = required_labels(*nodeset);
  if (labels.empty()) return;
  nodesets_[name] = {nodeset->replicas, nodeset->ordinal_padding, std::move(labels)};
}

void PoweredDownNodes::each(const std::vector<const NodeSelector*>& selectors, const Visit& visit) const {
  for (const auto& [name, nodes] : nodesets_) {
    const bool is_taken = std::all_of(selectors.begin(), selectors.end(), [&](const NodeSelector* selector) {
      return selector->selects_all_with(nodes.labels);
    });
    for (std::int64_t ordinal = 0; is_taken && ordinal < nodes.count; ++ordinal) {
      visit(node_name(name, ordinal, nodes.padding));
    }
  }
}

}  // namespace slurmk8s
