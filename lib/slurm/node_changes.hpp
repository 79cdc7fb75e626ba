// SPDX-License-Identifier: GPL-2.0-or-later
// NodeChanges: one change of several node records, while the sidecar may delete some of them. Each function blocks: a
// SlurmCaller runs it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slurm/slurm.hpp"

namespace slurmk8s {

using NodeFilter = std::function<bool(const SlurmNode&)>;

/** Names of all records, or of those among `names` unless it is null, for which `fits` says yes. */
Result<std::vector<std::string>> select_nodes(SlurmReader& slurm, const std::vector<std::string>* names,
                                              const NodeFilter& fits);

/**
 * Changes `nodes`: in one call when all of them are there, without a call when there are none. slurmctld stops at a
 * name that it doesn't know, since the sidecar has deleted the node in the meantime. Then the call is repeated, up to
 * four times, for the nodes that still fit; `fits` should say no to a node that has the change.
 */
Status change_nodes(Slurm& slurm, std::vector<std::string> nodes, const SlurmNodeUpdate& update,
                    const NodeFilter& fits);

/** An update of the state, and of the Reason unless it is empty. */
SlurmNodeUpdate update_to(SlurmNodeUpdate::State state, std::string reason = {});

}  // namespace slurmk8s
