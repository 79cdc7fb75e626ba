// SPDX-License-Identifier: GPL-2.0-or-later
// CancelledStarts: nodes that are powering up for a job that has been cancelled, or got other nodes. No other job asks
// for them: they would come up, and be idle for SuspendTime. One thread; it only remembers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "slurm/records.hpp"

namespace slurmk8s {

class CancelledStarts {
 public:
  /** Another job may get such a node within this time. */
  static constexpr std::chrono::seconds kGrace{5};

  /** All records, as slurmctld has them now. */
  void observe(const std::vector<SlurmNode>& nodes, TimePoint now);
  /** Nodes that have waited for kGrace without a job. */
  std::set<std::string, std::less<>> due(TimePoint now) const;
  /** When due() has one that it didn't have at `now`; empty: not before the records change. */
  std::optional<TimePoint> next(TimePoint now) const;

 private:
  // Nodes that powered up for a job when they were last seen; with a time, since when they have none.
  std::map<std::string, std::optional<TimePoint>> starts_;
};

}  // namespace slurmk8s
