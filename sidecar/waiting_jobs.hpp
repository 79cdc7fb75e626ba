// SPDX-License-Identifier: GPL-2.0-or-later
// WaitingJobs: the pending jobs that have a constraint. The reconciler's thread.
#pragma once

#include <ctime>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "core/slurm.hpp"

namespace slurmk8s {

class WaitingJobs {
 public:
  explicit WaitingJobs(const Clock& clock) : clock_(clock) {}

  /**
   * Asks slurmctld when `needed`, and forgets them when not. slurmctld sends all its jobs when one has changed: with
   * thousands it isn't asked again before twenty times what that took. True when there are others than before. When
   * slurmctld doesn't answer, what was known stays.
   */
  bool look(Slurm& slurm, bool needed);

  const std::vector<SlurmJob>& jobs() const { return jobs_; }
  /** Whether slurmctld answered the last look(). If not, jobs() may be older than what else is known by now. */
  bool is_fresh() const { return fresh_; }

 private:
  const Clock& clock_;
  std::vector<SlurmJob> jobs_;
  bool fresh_ = false;
  std::time_t since_ = 0;
  TimePoint not_before_{};
  LogLimiter limiter_{std::chrono::seconds(30)};
};

}  // namespace slurmk8s
