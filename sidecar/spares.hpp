// SPDX-License-Identifier: GPL-2.0-or-later
// select_spares(): which nodes of a NodeSet are kept up and idle for jobs to come. Pure; any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "nodeset/nodeset.hpp"
#include "sidecar/scale_in.hpp"
#include "sidecar/suspend_exemptions.hpp"

namespace slurmk8s {

struct SparesInput {
  const NodeSet& nodeset;
  const Members& members;  ///< nodes that stay
  const SuspendExemptions& exemptions;
  /** Nodes that are not to be powered up now: those that back off, those that a job waits for. */
  std::function<bool(const std::string& node)> is_held;
};

/** Spare nodes, and the variant that each has or is to get; empty: none. Both point into what select_spares() got. */
using Spares = std::map<std::string_view, std::string_view>;

/**
 * As many nodes as spare_replicas says, or fewer if there are no more: those that are up and idle, then those that
 * start for no job, then powered-down ones. Of equal ones, those that are exempt from suspends already, then the lowest
 * ordinals: so a second look at the same nodes selects the same. Powered-down nodes take any variant. Nodes without a
 * variant are selected first, then those of variants in the order of their names.
 */
Spares select_spares(const SparesInput& input);

}  // namespace slurmk8s
