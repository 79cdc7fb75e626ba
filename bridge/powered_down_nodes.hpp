// SPDX-License-Identifier: GPL-2.0-or-later
// PoweredDownNodes: Slurm nodes of NodeSets whose pods may be yet to come, and what is known of the Kubernetes nodes
// where these will run. Values; one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bridge/node_selector.hpp"
#include "json/json.hpp"
#include "nodeset/nodeset.hpp"

namespace slurmk8s {

/** Labels that each pod of the NodeSet requires of its Kubernetes node, whatever its variant: spec.nodeSelector. */
NodeLabels required_labels(const NodeSet& nodeset);

class PoweredDownNodes {
 public:
  /** A NodeSet as the API has it. One that is invalid, or whose nodes are those of Kubernetes nodes, has none. */
  void set_nodeset(const Json& object);
  void remove_nodeset(const std::string& name) { nodesets_.erase(name); }

  using Visit = std::function<void(const std::string& node)>;
  /** All nodes, also those that are up, of NodeSets whose pods run nowhere but where all of these take them. */
  void each(const std::vector<const NodeSelector*>& selectors, const Visit& visit) const;

 private:
  struct Nodes {
    std::int64_t count = 0;
    int padding = 0;
    NodeLabels labels;  // required_labels()
  };
  std::map<std::string, Nodes> nodesets_;  // but for those without such labels
};

}  // namespace slurmk8s
