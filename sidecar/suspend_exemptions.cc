// SPDX-License-Identifier: GPL-2.0-or-later
// SuspendExcNodes: a hostlist, in which names of NodeSets may stand from Slurm 24.05 on.
#include "sidecar/suspend_exemptions.hpp"

#include <utility>

#include "slurm/hostlist.hpp"

namespace slurmk8s {

bool SuspendExemptions::update(const SlurmConfig& config) {
  const std::set<std::string, std::less<>> before = std::exchange(names_, {});
  read(config);
  return names_ != before;
}

void SuspendExemptions::read(const SlurmConfig& config) {
  can_change_ = config.suspend_exc_nodes.has_value();
  if (!can_change_) return;
  // "c-[0-9]:2", two of ten: slurmctld neither adds to such a list nor takes from it.
  const Result<std::vector<std::string>> names = expand_hostlist(*config.suspend_exc_nodes);
  can_change_ = names.ok() && config.suspend_exc_nodes->find(':') == std::string::npos;
  if (!can_change_) return;
  names_.insert(names->begin(), names->end());
  std::erase_if(ours_, [this](const auto& entry) { return !names_.contains(entry.first); });
}

bool SuspendExemptions::covers(std::string_view nodeset, std::string_view node) const {
  return names_.contains(node) || names_.contains(nodeset) || names_.contains("ALL");
}

void SuspendExemptions::added(const std::string& nodeset, const std::string& hostlist) {
  const Result<std::vector<std::string>> names = expand_hostlist(hostlist);
  if (!names.ok()) return;
  for (const std::string& name : *names) ours_.insert_or_assign(name, nodeset);
  names_.insert(names->begin(), names->end());
}

void SuspendExemptions::restore(const std::string& nodeset, const std::string& hostlist) {
  const Result<std::vector<std::string>> names = expand_hostlist(hostlist);
  if (!names.ok()) return;
  for (const std::string& name : *names) ours_.try_emplace(name, nodeset);
}

void SuspendExemptions::removed(const std::string& hostlist) {
  const Result<std::vector<std::string>> names = expand_hostlist(hostlist);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    ours_.erase(name);
    names_.erase(name);
  }
}

}  // namespace slurmk8s
