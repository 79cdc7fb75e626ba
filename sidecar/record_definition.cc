// SPDX-License-Identifier: GPL-2.0-or-later
// RecordDefinition: keys of extraConf and the fields of a record where Slurm has them.
#include "record_definition.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace slurmk8s {
namespace {

/** In lower case: Slurm reads keys so. */
constexpr std::array<std::pair<std::string_view, std::uint64_t SlurmNode::*>, 4> kFixed{
    {{"corespeccount", &SlurmNode::core_spec_count},
     {"corespersocket", &SlurmNode::cores_per_socket},
     {"memspeclimit", &SlurmNode::mem_spec_limit_mib},
     {"threadspercore", &SlurmNode::threads_per_core}}};

}  // namespace

RecordDefinition read_definition(const NodeSet& nodeset) {
  RecordDefinition definition;
  for (const std::string_view word : split(nodeset.extra_conf, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = to_lower(word.substr(0, equals));
    const std::optional<std::int64_t> number = parse_int(word.substr(equals + 1));
    if (!number || *number < 0) continue;
    const auto value = static_cast<std::uint64_t>(*number);
    if (key == "weight") definition.weight = value;
    for (const auto& [known, field] : kFixed) {
      if (key == known) definition.fixed.emplace_back(field, value);
    }
  }
  return definition;
}

bool has_other_definition(const SlurmNode& node, const RecordDefinition& definition) {
  return std::any_of(definition.fixed.begin(), definition.fixed.end(),
                     [&](const auto& one) { return node.*one.first != one.second; });
}

}  // namespace slurmk8s
