// SPDX-License-Identifier: GPL-2.0-or-later
// RecordDefinition: what spec.extraConf says of a NodeSet's records, as far as a record that is there can be compared
// with it. Pure; any thread.
//
// Not so: Gres, CpuBind and others that slurmctld has in words of its own, or doesn't tell in every version. So the
// NodeSet's status keeps which records were made before the last change of these.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nodeset/nodeset.hpp"
#include "slurm/records.hpp"

namespace slurmk8s {

struct RecordDefinition {
  /** Slurm can't change these of a record: the field and the number that it is to have. */
  std::vector<std::pair<std::uint64_t SlurmNode::*, std::uint64_t>> fixed;
  std::optional<std::uint64_t> weight;  ///< Slurm can change this at any time; empty: extraConf has none
  std::string rest;                     ///< what can't be compared, and names of `fixed`, as one word
};

RecordDefinition read_definition(const std::string& extra_conf);

/** CPUs or memory of the record differ: Slurm can't change them, it has to be made again. */
bool has_other_size(const SlurmNode& node, const NodeSize& size);

/** True when the record has to be made again to be so. */
bool has_other_definition(const SlurmNode& node, const RecordDefinition& definition);

/** What the last plan knew of records and what can't be compared. */
struct RecordsState {
  std::string definition;          ///< RecordDefinition::rest; empty: not known, and all records are right
  std::set<std::string> outdated;  ///< records that were made with another one
  std::string former = {};         ///< that of `outdated`; empty: not known, or several
};

/** With which definition the record was made, as far as is known. */
std::string made_with(const RecordsState& before, const std::string& node);

/** True when the record was made with another `rest` than the NodeSet has now. */
bool is_outdated(const RecordsState& before, const RecordDefinition& definition, const std::string& node);

/** status.records; null when nothing is known. */
Json encode_records(const RecordsState& records);
/** From a NodeSet's status; empty when it has none. */
RecordsState decode_records(const Json& status);

}  // namespace slurmk8s
