// SPDX-License-Identifier: GPL-2.0-or-later
// The sidecar's decisions: NodeSets, Slurm's node records and pods in, changes and status out. Pure; any thread.
//
// A record belongs to the NodeSet that its name says when it was made at run time with State=CLOUD or EXTERNAL:
// record_owner(). Records of slurm.conf and nodes that registered by themselves are never touched.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "nodeset/nodeset.hpp"
#include "slurm/records.hpp"
#include "sidecar/allocatable.hpp"
#include "sidecar/create_stop.hpp"
#include "sidecar/known_nodeset.hpp"
#include "sidecar/kube_node_facts.hpp"
#include "sidecar/node_action.hpp"
#include "sidecar/node_counts.hpp"
#include "sidecar/pod_facts.hpp"
#include "sidecar/record_definition.hpp"
#include "sidecar/roll_out.hpp"
#include "sidecar/spare_times.hpp"
#include "sidecar/suspend_exemptions.hpp"
#include "sidecar/variant_demand.hpp"

namespace slurmk8s {

/** What a NodeSet's status shows: counts and the conditions Ready, PowerUpFailing and RolledOut. */
struct NodeSetState {
  std::int64_t generation = 0;  ///< of the spec that this is about
  NodeCounts counts;
  Pins pins;                 ///< what status.ordinalToNode is to say
  std::int64_t desired = 0;  ///< how many records there are to be
  bool ready = false;
  std::string reason;  ///< CamelCase, as a condition's reason must be
  std::string message;
  PowerUpFailures failures;
  std::optional<CreateStop> create_stop;  ///< why missing records aren't made
  RollOut roll_out;
  std::string extra_conf;            ///< of the NodeSet
  std::string features;              ///< the same
  RecordsState records;              ///< which of them have a former definition
  std::set<std::string> made_again;  ///< nodes that were made again to be so: not twice, whatever came of it
  std::set<std::string> scaled_in;   ///< numbered nodes that a scale-in removes or has removed, not wanted since
  std::set<std::string> chosen;      ///< of a DaemonSet: nodes of the chosen Kubernetes nodes, ready or not
  bool resets_weight = false;        ///< extraConf's Weight was removed, and records have it still
  std::set<std::string> exempt;      ///< nodes that we have exempted from suspends: the next sidecar has to know

  /** Without a spec nothing of this changes: the next valid one is compared with it. */
  void keep(const NodeSetState& before) {
    extra_conf = before.extra_conf;
    features = before.features;
    records = before.records;
    resets_weight = before.resets_weight;
    made_again = before.made_again;
    scaled_in = before.scaled_in;
  }
};

using NodeSetStates = std::map<std::string, NodeSetState>;

struct NodePlan {
  std::vector<NodeAction> actions;
  NodeSetStates states;  ///< of each NodeSet
};

/** What there is. */
struct NodePlanInput {
  const NodeSets& nodesets;             ///< all of them: a record whose NodeSet is missing is to go
  const std::vector<SlurmNode>& nodes;  ///< all records of Slurm
  const Pods& pods;
  std::int64_t max_nodes;  ///< that Slurm can hold
  const SuspendExemptions& exemptions;
  const std::set<std::string, std::less<>>& held;     ///< nodes that are not to be powered up yet: see PowerUpPace
  const KubeNodes* kube_nodes = nullptr;              ///< null: they aren't known, and decide nothing
  const NodeSetStates* before = nullptr;              ///< of the last plan; null: it is the first one
  const std::map<std::string, Pins>* pins = nullptr;  ///< of NodeSets, as the last plan had them
  bool has_node_features = true;                      ///< slurmctld has node_features/k8s
  const VariantDemand* demand = nullptr;              ///< of jobs that wait for a variant; null: of none
  /** Nodes that start for no job: CancelledStarts; null: none. */
  const std::set<std::string, std::less<>>* unused = nullptr;
  std::optional<std::string> gres_types = {};  ///< of slurmctld's configuration; without a value: not known
  const SpareCounts* spares = nullptr;         ///< by the clock; null, or none of a NodeSet: spec.spareReplicas
  bool has_external_nodes = true;              ///< Slurm has State=EXTERNAL
  /** What pods that Slurm doesn't count leave of Kubernetes nodes; null: not known, and external nodes stay. */
  const ResourcesByKubeNode* left = nullptr;
  std::string_view pods_error = {};  ///< why these pods can't be watched; empty: they can, or it isn't known yet
};

/**
 * What is to be done next. To carry the actions out twice, or partly, does no harm: the next plan starts from what is
 * there. `replicas` counts records, whatever their ordinals: see select_nodes_to_remove(). New ones get the lowest free
 * ordinals.
 */
NodePlan plan_nodes(const NodePlanInput& input);

}  // namespace slurmk8s
