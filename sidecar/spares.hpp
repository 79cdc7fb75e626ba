// SPDX-License-Identifier: GPL-2.0-or-later
// select_spares(): which nodes of a NodeSet are kept up and idle for jobs to come. Pure; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "sidecar/scale_in.hpp"
#include "sidecar/suspend_exemptions.hpp"

namespace slurmk8s {

struct SparesInput {
  std::string_view nodeset;
  std::int64_t count = 0;  ///< spec.spareReplicas
  const Members& members;  ///< nodes that stay
  const SuspendExemptions& exemptions;
  /** Nodes that are not to be powered up now: those that back off, those that a job waits for. */
  std::function<bool(const std::string& node)> is_held;
};

/**
 * Names of `count` nodes, or of fewer if there are no more: those that are up and idle, then those that start for no
 * job, then powered-down ones. Of equal ones, those that are exempt from suspends already, then the lowest ordinals: so
 * a second look at the same nodes selects the same. They point into `members`.
 */
std::set<std::string_view> select_spares(const SparesInput& input);

}  // namespace slurmk8s
