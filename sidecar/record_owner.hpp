// SPDX-License-Identifier: GPL-2.0-or-later
// Which NodeSet a node record of Slurm belongs to. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "slurm/records.hpp"
#include "sidecar/known_nodeset.hpp"

namespace slurmk8s {

/**
 * The name of the NodeSet, which may be gone or be of another scalingMode now; empty: the record is none of ours. Ours
 * was made at run time with State=CLOUD, and either its name is one of an ordinal of a NodeSet that is there, or it is
 * named after one of its features, as we make them.
 */
std::optional<std::string> record_owner(const SlurmNode& record, const NodeSets& nodesets);

/** Whether the engine takes a node of this name for one of this NodeSet. */
bool is_name_of(const std::string& nodeset, const std::string& node, const NodeSets& nodesets);

}  // namespace slurmk8s
