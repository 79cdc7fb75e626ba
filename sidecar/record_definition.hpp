// SPDX-License-Identifier: GPL-2.0-or-later
// RecordDefinition: what spec.extraConf says of a NodeSet's records, as far as a record that is there can be compared with
// it. Pure; any thread.
//
// Not so: Gres, CpuBind and others that slurmctld has in words of its own, or doesn't tell in every version. Their change
// holds for records that are made after it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/nodeset.hpp"
#include "core/slurm.hpp"

namespace slurmk8s {

struct RecordDefinition {
  /** Slurm can't change these of a record: the field and the number that it is to have. */
  std::vector<std::pair<std::uint64_t SlurmNode::*, std::uint64_t>> fixed;
  std::optional<std::uint64_t> weight;  ///< Slurm can change this at any time; empty: extraConf has none
};

RecordDefinition read_definition(const NodeSet& nodeset);

/** True when the record has to be made again to be so. */
bool has_other_definition(const SlurmNode& node, const RecordDefinition& definition);

}  // namespace slurmk8s
