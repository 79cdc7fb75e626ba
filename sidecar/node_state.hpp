// SPDX-License-Identifier: GPL-2.0-or-later
// Questions about a node record whose answers decide what may be done with it. Pure; any thread.
#pragma once

#include "nodeset/nodeset.hpp"
#include "slurm/reasons.hpp"
#include "slurm/slurm.hpp"
#include "sidecar/pod_facts.hpp"

namespace slurmk8s {

/** Reason of nodes that we drain; only nodes with this reason are undrained by us. */
inline constexpr const char* kScaleInReason = kReasonScaleIn;

inline bool is_starting(const SlurmNode& node) { return node.powering_up || node.power_up_asked; }

inline bool is_down(const SlurmNode& node) {
  return node.base == SlurmNode::Base::down || node.base == SlurmNode::Base::error;
}

inline bool is_idle(const SlurmNode& node) { return node.base == SlurmNode::Base::idle && !is_busy(node); }

/** Whether the sidecar drained it for a scale-in. */
inline bool is_drained_by_us(const SlurmNode& node) {
  return node.draining && is_drain_reason(node.reason, kScaleInReason);
}

/** True when nothing keeps it from being powered up, and it isn't already. A drained node is left alone. */
inline bool can_power_up(const SlurmNode& node) {
  return node.powered_down && !node.going_down() && is_idle(node) && !is_starting(node) && !node.draining;
}

/** Registered, and not on its way down; whether it takes jobs is another matter. */
inline bool is_powered_up(const SlurmNode& node) {
  return !node.powered_down && !node.going_down() && !is_starting(node) && !is_down(node);
}

/** Its Reason is of a drain of ours that is over. When slurmctld drains it by itself, it keeps that. */
inline bool has_former_reason(const SlurmNode& node) {
  return is_powered_up(node) && !node.draining && is_drain_reason(node.reason);
}

/** Slurm can't change these of a node: it has to be made again. */
inline bool has_other_size(const SlurmNode& node, const NodeSet& nodeset) {
  return node.cpus != nodeset.cpus || node.real_memory_mib != nodeset.real_memory_mib;
}

/**
 * slurmctld has lost it: at its start it found no address for the node, set it FUTURE and forgot what it was. From then
 * on commands take it for missing, and no other one can be made. slurmctld doesn't read such a record back when it is
 * reconfigured.
 */
inline bool is_lost(const SlurmNode& node) {
  return node.base == SlurmNode::Base::future && !node.dynamic && !node.cloud &&
         node.reason == "NO NETWORK ADDRESS FOUND";
}

/** True when the record can be deleted now without harm to anything. */
inline bool is_removable(const SlurmNode& node) {
  return node.powered_down && !node.going_down() && !is_busy(node) && !is_starting(node) && !node.reserved;
}

/**
 * True when slurmctld only waits for SuspendTimeout: SuspendProgram was called, and the pod is gone. The engine ends
 * such a power-down by itself, but not one of a drained node, since that takes back the drain.
 */
inline bool can_end_power_down(const SlurmNode& node, const Pods& pods) {
  const bool waits = node.powering_down && !node.powered_down && !node.power_down_asked;
  return waits && is_idle(node) && !pods.contains(node.name);
}

}  // namespace slurmk8s
