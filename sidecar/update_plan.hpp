// SPDX-License-Identifier: GPL-2.0-or-later
// Updates: which nodes of a NodeSet are taken out of service next, so that they come back with its present template.
// Pure; any thread.
//
// Only nodes whose pod was made from a former template are outdated: a node that is powered down gets the present one
// with its next pod anyway. An idle node is recycled: powered down by Slurm; with scalingMode Always it is powered up
// again like any other. A busy one is drained and recycled when its jobs are over. It isn't POWER_DOWN_ASAP that does
// both at once, since slurmctld can't take that back: with a drain, a node whose template is the present one again goes
// on as if nothing had been, and one that an administrator drains as well stays up.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "nodeset/nodeset.hpp"
#include "slurm/reasons.hpp"
#include "slurm/records.hpp"
#include "sidecar/node_action.hpp"
#include "sidecar/pod_facts.hpp"
#include "sidecar/roll_out.hpp"

namespace slurmk8s {

/** A record that is wanted. */
struct UpdateMember {
  const SlurmNode* node;
  bool taken;  ///< something else is about to be done with it
};

struct UpdateStep {
  NodeAction::Kind kind;  ///< undrain, drain or recycle; the latter two with kReasonUpdate
  const SlurmNode* node;
};

struct UpdatePlan {
  std::vector<UpdateStep> steps;
  RollOut roll_out;
};

/** What there is. */
struct UpdateInput {
  const NodeSet& nodeset;
  const std::vector<UpdateMember>& members;
  std::int64_t missing;  ///< wanted nodes without a record
  const Pods& pods;
  bool is_protected = false;          ///< the NodeSet's power-ups fail: see PowerUpFailures
  std::string_view failure;           ///< why one failed
  const RollOut* before = nullptr;    ///< of the last plan
  std::string_view stopped_template;  ///< without a last plan: what the status said
};

/** Whether the node runs what the NodeSet doesn't say any more: another template, or another size. */
bool is_outdated(const SlurmNode& node, const Pods& pods, const NodeSet& nodeset);

/**
 * The next steps. At most NodeSet::update.max_unavailable nodes are out of service for the update at a time, idle ones
 * before busy ones; a node that came up with the template, failed to, or (scalingMode Always) isn't up for another
 * cause counts until it is back. While the roll-out is stopped, or the NodeSet protected, no node is taken and those
 * that wait for their jobs are given back. What somebody else drained is left alone.
 */
UpdatePlan plan_update(const UpdateInput& input);

}  // namespace slurmk8s
