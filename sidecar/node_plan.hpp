// SPDX-License-Identifier: GPL-2.0-or-later
// The sidecar's decisions: NodeSets, Slurm's node records and pods in, changes and status out. Pure; any thread.
//
// A record belongs to the NodeSet that its name says when it was made at run time with State=CLOUD. Records of
// slurm.conf and nodes that registered by themselves are never touched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/nodeset.hpp"
#include "core/slurm.hpp"
#include "machine_facts.hpp"
#include "node_counts.hpp"
#include "pod_facts.hpp"
#include "suspend_exemptions.hpp"

namespace slurmk8s {

/** What the API has under a name: a NodeSet, or why its spec can't be used. */
struct KnownNodeSet {
  std::int64_t generation = 0;
  Result<NodeSet> spec;
};

/** All NodeSets of the namespace by name. */
using NodeSets = std::map<std::string, KnownNodeSet>;

/** One call to slurmctld. */
struct NodeAction {
  /**
   * In the order in which they are to be done. `resume`: ends a power-down, and a drain with it. `exempt`: keeps nodes
   * from being suspended when they are idle; `subject`: takes that back.
   */
  enum class Kind { undrain, resume, remove, create, exempt, power_up, drain, power_down, subject };
  Kind kind;
  std::string nodeset;
  std::string nodes;  ///< hostlist
  std::string line;   ///< of create: "NodeName=c-[0-7] State=CLOUD …"
  std::string reason; ///< of drain
};

/** "create", "power_down" …: as metrics and logs show it. */
const char* to_string(NodeAction::Kind kind);

/** What a NodeSet's status shows: counts and the conditions Ready and PowerUpFailing. */
struct NodeSetState {
  std::int64_t generation = 0;  ///< of the spec that this is about
  NodeCounts counts;
  bool ready = false;
  std::string reason;   ///< CamelCase, as a condition's reason must be
  std::string message;
  PowerUpFailures failures;
};

struct NodePlan {
  std::vector<NodeAction> actions;
  std::map<std::string, NodeSetState> states;  ///< of each NodeSet
};

/** What there is. */
struct NodePlanInput {
  const NodeSets& nodesets;             ///< all of them: a record whose NodeSet is missing is to go
  const std::vector<SlurmNode>& nodes;  ///< all records of Slurm
  const Pods& pods;
  std::int64_t max_nodes;  ///< that Slurm can hold
  const SuspendExemptions& exemptions;
  const std::set<std::string, std::less<>>& held;  ///< nodes that are not to be powered up yet: see PowerUpPace
  const Machines* machines = nullptr;  ///< null: they aren't known, and decide nothing
};

/**
 * What is to be done next. To carry the actions out twice, or partly, does no harm: the next plan starts from what is
 * there. `replicas` counts records, whatever their ordinals: see choose_leavers(). New ones get the lowest free ones.
 */
NodePlan plan_nodes(const NodePlanInput& input);

}  // namespace slurmk8s
