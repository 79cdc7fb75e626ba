// SPDX-License-Identifier: GPL-2.0-or-later
// RecoveredJobs: batch jobs that slurmctld recovered as running when it started. It may have been killed before it
// saved the end of such a job: then nothing of the job runs any more, and no message about it comes.
//
// slurmctld notices that when the job's batch host registers, but not within BatchStartTimeout and a message's time of
// its start (_purge_missing_jobs() in job_mgr.c). The registration right after the start is too early, and slurmctld
// asks for the next one after 20 pings, half an hour (MAX_REG_FREQUENCY in ping_nodes.c). So each of these hosts is
// asked once to register, as soon as slurmctld can judge by it. What becomes of the job is slurmctld's to say.
#pragma once

#include <chrono>
#include <ctime>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "event/timers.hpp"
#include "slurm/records.hpp"
#include "slurm/slurm_caller.hpp"

namespace slurmk8s {

/** Those of `runs` that slurmctld recovered: launched batch jobs that began before it did, at `start`. Pure. */
std::vector<SlurmRun> select_recovered(const std::vector<SlurmRun>& runs, std::time_t start);

/** From when on after its start slurmctld takes a batch job that a registration does not name for missing. Pure. */
std::chrono::seconds registration_delay(const SlurmConfig& config);

/** Batch hosts of recovered jobs that run since, each once; `runs`: all that run now. Pure. */
std::vector<std::string> plan_registrations(const std::vector<SlurmRun>& recovered, const std::vector<SlurmRun>& runs);

/** Whether there is a slurmd to ask: neither DOWN nor FUTURE, not powered down or powering, and not rebooting. */
bool can_register(const SlurmNode& node);

/** The engine's thread. One for each time that this slurmctld takes control. */
class RecoveredJobs {
 public:
  /** slurmctld answers each with a thread or two, and each registration takes its locks. */
  static constexpr std::size_t kNodesAtOnce = 10;
  static constexpr std::chrono::seconds kPause{1};
  static constexpr std::chrono::seconds kRetry{5};

  struct Parts {
    SlurmCaller& slurm;
    Timers& timers;
    const Clock& clock;
    std::function<bool(const std::string& node)> is_ours;
    std::function<void(const std::string& node)> ask;  ///< has slurmctld ask for a registration; empty: it can't
  };
  /** An engine that starts late takes jobs that began meanwhile for recovered: their nodes register once more. */
  explicit RecoveredJobs(Parts parts);

  /** slurmctld answers: it has read its state. Once. */
  void start();

 private:
  void on_start(const Result<std::vector<SlurmRun>>& runs, const Result<SlurmConfig>& config);
  void look();
  void on_look(const Result<std::vector<SlurmRun>>& runs);
  void ask_some();
  void on_nodes(const std::vector<SlurmNode>& nodes);

  const Parts parts_;
  const std::time_t start_;
  std::vector<SlurmRun> recovered_;  // empty again once it is known whom to ask
  std::deque<std::string> hosts_;    // to be asked
};

}  // namespace slurmk8s
