// SPDX-License-Identifier: GPL-2.0-or-later
// Partitions of NodeSets: what to change in Slurm so that each NodeSet that wants one has the partition of its name.
// Pure; any thread.
//
// A partition is ours when DenyAccounts begins with kMadeByUs: Slurm has no comment for a partition, but keeps this,
// and to deny an account that doesn't exist changes nothing. All others are an administrator's and never touched.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "daemon/condition.hpp"
#include "slurm/records.hpp"
#include "sidecar/node_plan.hpp"

namespace slurmk8s {

inline constexpr const char* kMadeByUs = "made-by-slurm-k8s";
/** Beside it in a partition that is to go, and takes no further job. */
inline constexpr const char* kLeaving = "leaving-slurm-k8s";

/** One call to slurmctld. */
struct PartitionAction {
  enum class Kind { create, update, remove };
  Kind kind;
  SlurmPartition partition;  ///< with update, what changes; with remove, the name

  /** "create gpu", "update gpu MaxTime=60 Nodes=gpu-[0-3]". */
  std::string text() const;
};

struct PartitionPlan {
  std::vector<PartitionAction> actions;
  std::map<std::string, Condition> conditions;  ///< PartitionReady, of each NodeSet
};

/** `keeps`: Slurm::check_partitions_persist(). To carry the actions out twice, or partly, does no harm. */
PartitionPlan plan_partitions(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
                              const std::vector<SlurmPartition>& partitions, const Status& keeps);

}  // namespace slurmk8s
