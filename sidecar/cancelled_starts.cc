// SPDX-License-Identifier: GPL-2.0-or-later
// CancelledStarts: a node that had a job while it powered up, and then had none and still powered up.
#include "sidecar/cancelled_starts.hpp"

#include "slurm/node_state.hpp"

namespace slurmk8s {

void CancelledStarts::observe(const std::vector<SlurmNode>& nodes, TimePoint now) {
  std::map<std::string, std::optional<TimePoint>> starts;
  for (const SlurmNode& node : nodes) {
    if (!node.cloud || node.going_down()) continue;
    const auto known = starts_.find(node.name);
    if (is_busy(node) && is_starting(node)) {
      starts[node.name] = std::nullopt;
    } else if (is_idle(node) && known != starts_.end()) {
      // One that is up already may have run its job since it was last seen.
      if (known->second) starts[node.name] = known->second;
      if (!known->second && is_starting(node)) starts[node.name] = now;
    }
  }
  starts_ = std::move(starts);
}

std::set<std::string, std::less<>> CancelledStarts::due(TimePoint now) const {
  std::set<std::string, std::less<>> names;
  for (const auto& [name, since] : starts_) {
    if (since && now >= *since + kGrace) names.insert(name);
  }
  return names;
}

std::optional<TimePoint> CancelledStarts::next(TimePoint now) const {
  std::optional<TimePoint> first;
  for (const auto& [name, since] : starts_) {
    if (since && now < *since + kGrace && (!first || *since + kGrace < *first)) first = *since + kGrace;
  }
  return first;
}

}  // namespace slurmk8s
