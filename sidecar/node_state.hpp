// SPDX-License-Identifier: GPL-2.0-or-later
// Questions about a node record and its NodeSet or pod. Those about the record alone: slurm/node_state.hpp. Pure; any
// thread.
#pragma once

#include "nodeset/nodeset.hpp"
#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"
#include "sidecar/pod_facts.hpp"

namespace slurmk8s {

/** Slurm can't change these of a node: it has to be made again. */
inline bool has_other_size(const SlurmNode& node, const NodeSet& nodeset) {
  return node.cpus != nodeset.cpus || node.real_memory_mib != nodeset.real_memory_mib;
}

/**
 * True when slurmctld only waits for SuspendTimeout, and the pod is gone. The engine ends such a power-down by itself,
 * but not one of a drained node, since that takes back the drain.
 */
inline bool can_end_power_down(const SlurmNode& node, const Pods& pods) {
  return awaits_suspend_timeout(node) && !pods.contains(node.name);
}

}  // namespace slurmk8s
