// SPDX-License-Identifier: GPL-2.0-or-later
// JobKeeper: the bridge's jobs in Slurm: submits and ends them, and knows them as slurmctld last told them. One thread;
// the calls are made on the caller's.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bridge/allocation_caller.hpp"
#include "bridge/gang.hpp"

namespace slurmk8s {

class JobKeeper {
 public:
  using OnSubmitted = std::function<void(const Result<std::uint32_t>& job)>;

  using Wanted = std::function<std::set<std::uint32_t>()>;

  /**
   * References must outlive it. `changed`: jobs were loaded and have changed, or a call was answered. `wanted`: jobs
   * that are of interest whatever their Comment says, since their users can change it.
   */
  JobKeeper(AllocationCaller& caller, const Clock& clock, std::function<void()> changed, Wanted wanted);
  ~JobKeeper();
  JobKeeper(const JobKeeper&) = delete;
  JobKeeper& operator=(const JobKeeper&) = delete;

  /** Loads the job, if there is one, after `done`. */
  void submit(AllocationRequest request, OnSubmitted done);
  /**
   * Nothing when the id has another job by then. `failed`: it may be asked again; called at once while the job is being
   * ended already. Loads the job.
   */
  void end(std::uint32_t job, std::time_t submitted, const JobResult& result, std::function<void()> failed);
  /** Asks slurmctld for all jobs of ours, unless it is being asked. It sends all jobs of all users. */
  void load();
  /** Asks slurmctld for these jobs alone, one by one. One that it does not know is looked for by load(). */
  void load(const std::set<std::uint32_t>& jobs);

  const KnownJobs& known() const { return known_; }
  /** When slurmctld last answered with jobs; {}: never. */
  TimePoint answered() const { return answered_; }

 private:
  void take(TimePoint asked, std::time_t since, Result<std::optional<std::vector<Allocation>>> answer);
  void take(std::uint32_t id, Result<std::optional<Allocation>> answer);
  void call(AllocationCaller::Work work);
  void warn(const std::string& what, const Error& error);

  AllocationCaller& caller_;
  const Clock& clock_;
  const std::function<void()> changed_;
  const Wanted wanted_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // what follows a call may come later
  KnownJobs known_;
  TimePoint answered_{};
  std::time_t since_ = 0;
  std::set<std::uint32_t> asked_for_;  // in the last load()
  bool loading_ = false;
  std::set<std::uint32_t> loading_jobs_;
  std::set<std::uint32_t> ending_jobs_;
  LogLimiter limiter_{std::chrono::seconds(10)};
};

}  // namespace slurmk8s
