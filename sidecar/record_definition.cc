// SPDX-License-Identifier: GPL-2.0-or-later
// RecordDefinition: keys of extraConf and the fields of a record where Slurm has them.
#include "sidecar/record_definition.hpp"

#include <algorithm>
#include <array>

#include "slurm/hostlist.hpp"
#include "base/strings.hpp"
#include "nodeset/template_hash.hpp"

namespace slurmk8s {
namespace {

/** In lower case: Slurm reads keys so. */
constexpr std::array<std::pair<std::string_view, std::uint64_t SlurmNode::*>, 4> kFixed{
    {{"corespeccount", &SlurmNode::core_spec_count},
     {"corespersocket", &SlurmNode::cores_per_socket},
     {"memspeclimit", &SlurmNode::mem_spec_limit_mib},
     {"threadspercore", &SlurmNode::threads_per_core}}};

bool is_compared(const std::string& key) {
  return key == "weight" ||
         std::any_of(kFixed.begin(), kFixed.end(), [&](const auto& one) { return one.first == key; });
}

}  // namespace

RecordDefinition read_definition(const std::string& extra_conf) {
  RecordDefinition definition;
  std::string rest;
  for (const std::string_view word : split(extra_conf, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string key = to_lower(word.substr(0, equals));
    if (!is_compared(key)) rest.append(word).append(" ");
    const std::optional<std::int64_t> number = parse_int(word.substr(equals + 1));
    if (!number || *number < 0) continue;
    const auto value = static_cast<std::uint64_t>(*number);
    if (key == "weight") definition.weight = value;
    for (const auto& [known, field] : kFixed) {
      if (key == known) definition.fixed.emplace_back(field, value);
    }
  }
  // Of one that is removed nothing is left to compare: slurmctld's default depends on the node.
  for (const auto& [known, field] : kFixed) {
    const auto is_this = [field = field](const auto& one) { return one.first == field; };
    if (std::ranges::any_of(definition.fixed, is_this)) rest.append(known).append(" ");
  }
  definition.rest = hash_text(rest);
  return definition;
}

std::string made_with(const RecordsState& before, const std::string& node) {
  return before.outdated.contains(node) ? before.former : before.definition;
}

bool is_outdated(const RecordsState& before, const RecordDefinition& definition, const std::string& node) {
  return !before.definition.empty() && made_with(before, node) != definition.rest;
}

Json encode_records(const RecordsState& records) {
  if (records.definition.empty()) return {};
  Json object = Json::object();
  object.set("definition", records.definition)
      .set("outdated", compress_hostlist({records.outdated.begin(), records.outdated.end()}));
  if (!records.former.empty()) object.set("former", records.former);
  return object;
}

RecordsState decode_records(const Json& status) {
  const Json object = status["records"];
  RecordsState records{.definition = std::string(object["definition"].text()), .outdated = {}, .former = {}};
  const auto names = expand_hostlist(object["outdated"].text());
  if (names.ok()) records.outdated.insert(names->begin(), names->end());
  records.former = object["former"].text();
  return records;
}

bool has_other_size(const SlurmNode& node, const NodeSize& size) {
  return node.cpus != size.cpus || node.real_memory_mib != size.real_memory_mib;
}

bool has_other_definition(const SlurmNode& node, const RecordDefinition& definition) {
  return std::any_of(definition.fixed.begin(), definition.fixed.end(),
                     [&](const auto& one) { return node.*one.first != one.second; });
}

}  // namespace slurmk8s
