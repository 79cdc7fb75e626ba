// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSets, node records and pods, and the plan for them as a text.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nodeset/names.hpp"
#include "sidecar/node_plan.hpp"
#include "slurm/reasons.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {

using Base = SlurmNode::Base;
using Change = std::function<void(SlurmNode&)>;

inline NodeSet nodeset_of(const std::string& name, std::int64_t replicas, int padding = 0) {
  NodeSet nodeset;
  nodeset.name_space = "slurm";
  nodeset.name = name;
  nodeset.features = name;
  nodeset.replicas = replicas;
  nodeset.ordinal_padding = padding;
  nodeset.size.cpus = 2;
  nodeset.size.real_memory_mib = 936;
  return nodeset;
}

/** NodeSets and records to be, and the plan for them as one text: "create c-[0-1]; power_up c-2 active=c,v1". */
class Cluster {
 public:
  NodeSets nodesets;
  std::vector<SlurmNode> nodes;
  Pods pods;
  KubeNodes kube_nodes;
  std::map<std::string, Pins> pins;
  std::int64_t max_nodes = 4096;
  SuspendExemptions exemptions;
  std::set<std::string, std::less<>> held;
  const NodeSetStates* before = nullptr;
  const VariantDemand* demand = nullptr;
  const std::set<std::string, std::less<>>* unused = nullptr;
  std::optional<std::string> gres_types;
  std::optional<SpareCounts> spares;
  bool has_node_features = true;
  bool has_external_nodes = true;
  std::optional<ResourcesByKubeNode> left;
  std::string pods_error;

  Cluster& nodeset(const NodeSet& nodeset) {
    nodesets.insert_or_assign(nodeset.name, KnownNodeSet{.generation = 1, .spec = nodeset});
    return *this;
  }
  Cluster& nodeset(const std::string& name, std::int64_t replicas, int padding = 0) {
    return nodeset(nodeset_of(name, replicas, padding));
  }
  /** Records `from` to `to` as create makes them, changed by `change`. */
  Cluster& records(const std::string& name, int from, int to, const Change& change = {}, int padding = 0) {
    for (int i = from; i <= to; i++) {
      SlurmNode node = FakeSlurm::cloud_node(node_name(name, i, padding));
      node.cpus = 2;
      node.real_memory_mib = 936;
      node.features = name;
      if (change) change(node);
      nodes.push_back(node);
    }
    return *this;
  }
  Cluster& pod(const std::string& node, std::int32_t deletion_cost = 0) {
    pods[node] = PodFacts{.uid = "u", .deletion_cost = deletion_cost};
    return *this;
  }
  NodePlan plan() const {
    return plan_nodes({nodesets, nodes, pods, max_nodes, exemptions, held, &kube_nodes, before, &pins,
                       has_node_features, demand, unused, gres_types, spares ? &*spares : nullptr, has_external_nodes,
                       left ? &*left : nullptr, pods_error});
  }
  std::string actions() const {
    std::string text;
    for (const NodeAction& action : plan().actions) {
      text += (text.empty() ? "" : "; ") + std::string(to_string(action.kind)) + " " + action.nodes;
      const bool is_power_up = action.kind == NodeAction::Kind::power_up;
      if (is_power_up && action.change.active_features) text += " active=" + *action.change.active_features;
    }
    return text;
  }
  /** "Ready/NodesMatch", "-/ScalingIn". */
  std::string state(const std::string& name) const {
    const NodePlan made = plan();
    const NodeSetState& state = made.states.at(name);
    return (state.ready ? "Ready/" : "-/") + state.reason;
  }
};

/** A NodeSet "c" of scalingMode Always, with Slurm's SuspendExcNodes. */
inline Cluster always(std::int64_t replicas, const char* exempt) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", replicas);
  nodeset.scaling_mode = ScalingMode::always;
  cluster.nodeset(nodeset);
  cluster.exemptions.update({.suspend_exc_nodes = exempt ? std::optional<std::string>(exempt) : std::nullopt});
  return cluster;
}

inline void up(SlurmNode& node) { node.powered_down = false; }
inline void allocated(SlurmNode& node) { up(node), node.base = Base::allocated; }
inline void drained_by_us(SlurmNode& node) { node.draining = true, node.reason = kReasonScaleIn; }

}  // namespace slurmk8s
