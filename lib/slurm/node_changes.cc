// SPDX-License-Identifier: GPL-2.0-or-later
// One change of several nodes, repeated for those that slurmctld didn't come to.
#include "slurm/node_changes.hpp"

#include <unordered_set>

#include "slurm/hostlist.hpp"

namespace slurmk8s {

Result<std::vector<std::string>> select_nodes(SlurmReader& slurm, const std::vector<std::string>* names,
                                              const NodeFilter& fits) {
  const std::vector<SlurmNode> records = SLURMK8S_TRY(slurm.load_nodes());
  std::unordered_set<std::string_view> wanted;
  if (names) wanted.insert(names->begin(), names->end());
  std::vector<std::string> selected;
  for (const SlurmNode& record : records) {
    if ((!names || wanted.contains(record.name)) && fits(record)) selected.push_back(record.name);
  }
  return selected;
}

Status change_nodes(Slurm& slurm, std::vector<std::string> nodes, const SlurmNodeUpdate& update,
                    const NodeFilter& fits) {
  constexpr int kTries = 5;
  Status status;
  for (int i = 0; i < kTries && !nodes.empty(); i++) {
    status = slurm.update_nodes(compress_hostlist(nodes), update);
    if (status || status.error().code() != Errc::not_found) return status;
    nodes = SLURMK8S_TRY(select_nodes(slurm, &nodes, fits));
  }
  return nodes.empty() ? Status() : status;
}

SlurmNodeUpdate update_to(SlurmNodeUpdate::State state, std::string reason) {
  SlurmNodeUpdate update;
  update.state = state;
  update.reason = std::move(reason);
  return update;
}

}  // namespace slurmk8s
