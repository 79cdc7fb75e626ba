// SPDX-License-Identifier: GPL-2.0-or-later
// OpenJobs: the pending jobs that have a constraint, and the suspended ones. The reconciler's thread.
#pragma once

#include <ctime>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

class OpenJobs {
 public:
  explicit OpenJobs(const Clock& clock) : clock_(clock) {}

  /**
   * Asks slurmctld when `needed`, and forgets them when not. slurmctld sends all its jobs when one has changed: with
   * thousands it isn't asked again before twenty times what that took. True when there are others than before. When
   * slurmctld doesn't answer, what was known stays.
   */
  bool refresh(SlurmReader& slurm, bool needed);

  const std::vector<SlurmJob>& jobs() const { return jobs_; }
  /** Nodes of suspended jobs, which slurmctld calls idle when no other job has them. */
  const std::set<std::string, std::less<>>& suspended_on() const { return suspended_on_; }
  /** Whether slurmctld answered the last refresh(). If not, jobs() may be older than what else is known by now. */
  bool is_fresh() const { return fresh_; }

 private:
  void find_suspended();

  const Clock& clock_;
  std::vector<SlurmJob> jobs_;
  std::set<std::string, std::less<>> suspended_on_;
  bool fresh_ = false;
  std::time_t since_ = 0;
  TimePoint not_before_{};
  LogLimiter limiter_{std::chrono::seconds(30)};
};

}  // namespace slurmk8s
