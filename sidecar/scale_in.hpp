// SPDX-License-Identifier: GPL-2.0-or-later
// Scale-in: which of a NodeSet's nodes leave when it has more than it wants. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "slurm/records.hpp"
#include "sidecar/pod_facts.hpp"

namespace slurmk8s {

/** The records of a NodeSet by ordinal. */
using Members = std::map<std::int64_t, const SlurmNode*>;

/**
 * Ordinals of the `count` members that leave. In this order go: nodes that are on their way out already, so that a
 * choice once made stays; nodes that are powered down; that are powering down; that nobody can use (DOWN, or drained by
 * an administrator); that are starting without a job; that are idle; busy ones that an administrator drains; the other
 * busy ones, and what can't go now (reserved, or in a state that isn't known yet). Among equals the lower
 * pod-deletion-cost goes first, then the higher ordinal.
 */
std::set<std::int64_t> select_nodes_to_remove(const Members& members, std::size_t count, const Pods& pods);

}  // namespace slurmk8s
