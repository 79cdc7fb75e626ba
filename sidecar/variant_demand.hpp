// SPDX-License-Identifier: GPL-2.0-or-later
// Which idle nodes run a variant that nobody waits for, while a job waits for another one. Pure; any thread.
//
// slurmctld boots a node with a variant only when it powers it up: a node of scalingMode OnDemand that is up with
// another one would be of use to such a job after its SuspendTime, and one that is kept up never.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "slurm/records.hpp"
#include "sidecar/known_nodeset.hpp"

namespace slurmk8s {

struct VariantDemand {
  std::set<std::string, std::less<>> recycle;  ///< to be powered down, for a job to have them booted with its variant
  /** Powered down, and not to be powered up but by the job that needs them. */
  std::set<std::string, std::less<>> reserved;
};

/**
 * Of `jobs` those that wait, one after the other, each with as many nodes as it asks for: first those that are powered
 * down, on their way there or up with its variant, then idle ones of another. A job that these can't satisfy takes
 * none. A job with an alternative without a variant is left to slurmctld.
 */
VariantDemand find_variant_demand(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
                                  const std::vector<SlurmJob>& jobs);

}  // namespace slurmk8s
