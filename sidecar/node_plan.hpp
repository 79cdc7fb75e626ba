// SPDX-License-Identifier: GPL-2.0-or-later
// The sidecar's decisions: NodeSets and Slurm's node records in, changes and status out. Pure; any thread.
//
// A record belongs to the NodeSet that its name says when it was made at run time with State=CLOUD. Records of
// slurm.conf and nodes that registered by themselves are never touched.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/nodeset.hpp"
#include "core/slurm.hpp"

namespace slurmk8s {

/** Reason of nodes that we drain; only nodes with this reason are undrained by us. */
inline constexpr const char* kScaleInReason = "slurm-k8s: scale-in";

/** What the API has under a name: a NodeSet, or why its spec can't be used. */
struct KnownNodeSet {
  std::int64_t generation = 0;
  Result<NodeSet> spec;
};

/** All NodeSets of the namespace by name. */
using NodeSets = std::map<std::string, KnownNodeSet>;

/** One call to slurmctld. */
struct NodeAction {
  enum class Kind { undrain, remove, create, drain, power_down };  ///< in the order in which they are to be done
  Kind kind;
  std::string nodeset;
  std::string nodes;  ///< hostlist
  std::string line;   ///< of create: "NodeName=c-[0-7] State=CLOUD …"
};

/** "create", "power_down" …: as metrics and logs show it. */
const char* to_string(NodeAction::Kind kind);

/** How many records of a NodeSet are in which state. A record may be counted in several. */
struct NodeCounts {
  std::int64_t total = 0;
  std::int64_t ready = 0;  ///< up, registered, and neither drained nor down
  std::int64_t powered_up = 0;
  std::int64_t powering_up = 0;
  std::int64_t powering_down = 0;
  std::int64_t powered_down = 0;
  std::int64_t allocated = 0;
  std::int64_t idle = 0;
  std::int64_t draining = 0;
  std::int64_t down = 0;
};

/** Nodes of a NodeSet that could not come up, by the Reasons that the engine gave them. */
struct PowerUpFailures {
  std::vector<std::string> nodes;  ///< held back
  bool is_protected = false;       ///< none of the NodeSet's nodes is tried for a while
  std::string cause;               ///< of one of them
};

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

/**
 * Compares the NodeSets (all of them: a record whose NodeSet is missing is to go) with all node records of Slurm, which
 * can hold `max_nodes`. To carry the actions out twice, or partly, does no harm: the next plan starts from what is there.
 */
NodePlan plan_nodes(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes, std::int64_t max_nodes);

}  // namespace slurmk8s
