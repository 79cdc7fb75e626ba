// SPDX-License-Identifier: GPL-2.0-or-later
// plan_partitions(): compare, and say what differs.
#include "sidecar/partition_plan.hpp"

#include <strings.h>

#include <algorithm>
#include <set>

#include "slurm/hostlist.hpp"
#include "base/strings.hpp"
#include "sidecar/record_owner.hpp"

namespace slurmk8s {
namespace {

using Kind = PartitionAction::Kind;

constexpr const char* kDenied = "DenyAccounts";

std::string option(const SlurmPartition& partition, const char* key) {
  const auto found = partition.options.find(key);
  return found == partition.options.end() ? std::string() : found->second;
}

bool is_ours(const SlurmPartition& partition) { return split(option(partition, kDenied), ',').front() == kMadeByUs; }

bool is_leaving(const SlurmPartition& partition) {
  const std::string denied = option(partition, kDenied);
  const auto words = split(denied, ',');
  return words.size() > 1 && words[1] == kLeaving;
}

/** Slurm writes the same set of nodes in one way, but not always in ours. */
bool are_same_nodes(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto names = [](const std::string& hostlist) {
    const auto expanded = expand_hostlist(hostlist);
    return expanded.ok() ? std::set<std::string>(expanded->begin(), expanded->end()) : std::set<std::string>{hostlist};
  };
  return names(a) == names(b);
}

/** The records of each NodeSet: a partition has those that are there, since Slurm refuses others. */
std::map<std::string, std::string, std::less<>> hostlists(const NodeSets& nodesets,
                                                          const std::vector<SlurmNode>& nodes) {
  std::map<std::string, std::vector<std::string>, std::less<>> names;
  for (const SlurmNode& node : nodes) {
    if (const auto owner = record_owner(node, nodesets)) names[*owner].push_back(node.name);
  }
  std::map<std::string, std::string, std::less<>> out;
  for (const auto& [nodeset, list] : names) out[nodeset] = compress_hostlist(list);
  return out;
}

SlurmPartition wanted_partition(const NodeSet& nodeset, const std::string& nodes) {
  SlurmPartition wanted{nodeset.name, nodes, *nodeset.partition};
  std::string& denied = wanted.options[kDenied];
  denied = denied.empty() ? kMadeByUs : std::string(kMadeByUs) + "," + denied;
  return wanted;
}

/** What of `wanted` the partition doesn't have; nothing in it: all is well. */
SlurmPartition difference(const SlurmPartition& wanted, const SlurmPartition& have) {
  SlurmPartition change{wanted.name, {}, {}};
  // Nodes that are deleted leave the partition by themselves, and none can't be said.
  if (!wanted.nodes.empty() && !are_same_nodes(wanted.nodes, have.nodes)) change.nodes = wanted.nodes;
  for (const auto& [key, value] : wanted.options) {
    if (strcasecmp(option(have, key.c_str()).c_str(), value.c_str()) != 0) change.options[key] = value;
  }
  // It takes jobs again; an administrator's own State is kept otherwise.
  if (is_leaving(have)) change.options.try_emplace("State", "UP");
  return change;
}

void plan_removal(const SlurmPartition& partition, PartitionPlan& plan) {
  if (!is_leaving(partition)) {
    SlurmPartition change{partition.name, {}, {}};
    change.options[kDenied] = std::string(kMadeByUs) + "," + kLeaving;
    change.options["State"] = "DRAIN";
    plan.actions.push_back({Kind::update, std::move(change)});
  }
  plan.actions.push_back({Kind::remove, {partition.name, {}, {}}});
}

Condition condition(bool status, const char* reason, std::string message) {
  return {"PartitionReady", status, reason, std::move(message)};
}

Condition plan_wanted(const NodeSet& nodeset, const std::string& nodes, const SlurmPartition* have, const Status& keeps,
                      PartitionPlan& plan) {
  if (have != nullptr && !is_ours(*have)) {
    return condition(false, "NameTaken", "slurm has a partition " + nodeset.name + " that slurm-k8s did not create");
  }
  if (have == nullptr && !keeps.ok()) return condition(false, "NotKept", keeps.error().message());
  const SlurmPartition wanted = wanted_partition(nodeset, nodes);
  if (have == nullptr) {
    plan.actions.push_back({Kind::create, wanted});
    return condition(false, "Creating", "partition " + nodeset.name + " is being created");
  }
  SlurmPartition change = difference(wanted, *have);
  const bool differs = !change.nodes.empty() || !change.options.empty();
  if (differs) plan.actions.push_back({Kind::update, std::move(change)});
  if (!keeps.ok()) return condition(false, "NotKept", keeps.error().message());
  if (differs) return condition(false, "Updating", plan.actions.back().text());
  return condition(true, "PartitionMatches", "partition " + nodeset.name + " as the spec says");
}

}  // namespace

std::string PartitionAction::text() const {
  if (kind == Kind::create) return "create " + partition.name;
  if (kind == Kind::remove) return "delete " + partition.name;
  std::string text = "update " + partition.name;
  for (const auto& [key, value] : partition.options) text.append(" ").append(key).append("=").append(value);
  if (!partition.nodes.empty()) text += " Nodes=" + shorten(partition.nodes);
  return text;
}

PartitionPlan plan_partitions(const NodeSets& nodesets, const std::vector<SlurmNode>& nodes,
                              const std::vector<SlurmPartition>& partitions, const Status& keeps) {
  PartitionPlan plan;
  const auto by_nodeset = hostlists(nodesets, nodes);
  std::map<std::string, const SlurmPartition*> by_name;
  for (const SlurmPartition& partition : partitions) by_name[partition.name] = &partition;
  for (const auto& [name, known] : nodesets) {
    const auto found = by_name.find(name);
    const SlurmPartition* have = found == by_name.end() ? nullptr : found->second;
    if (have != nullptr) by_name.erase(found);
    if (!known.spec.ok()) {
      plan.conditions[name] = condition(have != nullptr, "InvalidSpec", "as it was before the spec became invalid");
    } else if (known.spec->partition) {
      const auto list = by_nodeset.find(name);
      plan.conditions[name] =
          plan_wanted(*known.spec, list == by_nodeset.end() ? std::string() : list->second, have, keeps, plan);
    } else if (have != nullptr && is_ours(*have)) {
      plan_removal(*have, plan);
      plan.conditions[name] = condition(false, "Leaving", "removed when no job and no reservation uses it");
    } else {
      plan.conditions[name] = condition(false, "Disabled", "spec.partition.enabled is false");
    }
  }
  for (const auto& [name, partition] : by_name) {  // of NodeSets that are gone
    if (is_ours(*partition)) plan_removal(*partition, plan);
  }
  return plan;
}

}  // namespace slurmk8s
