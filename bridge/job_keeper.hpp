// SPDX-License-Identifier: GPL-2.0-or-later
// JobKeeper: the bridge's jobs in Slurm: submits and ends them, and knows them as slurmctld last told them. One thread;
// the calls are made on the caller's.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "bridge/allocation_caller.hpp"
#include "bridge/gang.hpp"

namespace slurmk8s {

/**
 * Between two lists of all jobs while the engine tells of starts and ends: 3 s, and up to 30 s where a list takes
 * `list_time`, so that lists take a twentieth of the time. Lists tell what the engine does not see, such as `scontrol
 * suspend` and a preemption with a GraceTime.
 */
std::chrono::milliseconds list_pace(TimePoint::duration list_time);
/**
 * Between two lists of all jobs, which tell positions in the queue, while a job has none: a second; more where a list
 * takes `list_time`, so that lists take a twentieth of the time, or a quarter of it for a job that is newer than the
 * last list.
 */
std::chrono::milliseconds position_pace(TimePoint::duration list_time, bool is_new);

class JobKeeper {
 public:
  using OnSubmitted = std::function<void(const Result<std::uint32_t>& job)>;
  /** What is known of a job may have changed; none: of all jobs. */
  using Changed = std::function<void(std::optional<std::uint32_t> job)>;
  using Wanted = std::function<std::set<std::uint32_t>()>;

  /**
   * References must outlive it. `wanted`: jobs that are of interest whatever their Comment says, since their users can
   * change it.
   */
  JobKeeper(AllocationCaller& caller, const Clock& clock, Changed changed, Wanted wanted);
  ~JobKeeper();
  JobKeeper(const JobKeeper&) = delete;
  JobKeeper& operator=(const JobKeeper&) = delete;

  /** Loads the job, if there is one, after `done`. */
  void submit(AllocationRequest request, OnSubmitted done);
  /**
   * Nothing when the id has another job by then. `failed`: it may be asked again; called at once while the job is being
   * ended already. The job is known as ended then; it is loaded if that is not sure.
   */
  void end(std::uint32_t job, std::time_t submitted, const JobResult& result, std::function<void()> failed);
  /** What is wanted while slurmctld is being asked: nothing more, or another answer after that, since jobs changed. */
  enum class Since { any, now };
  /**
   * Asks slurmctld for all jobs of ours. It sends all jobs of all users, or says that nothing has changed since the
   * last answer.
   */
  void load(Since since) { load_list(false, since); }
  /** The same, but it sends them: the last answer may be another slurmctld's, whose clock differs. */
  void load_whole() { load_list(true, Since::any); }
  /** Asks slurmctld for these jobs alone, one by one. One that it does not know is looked for by load(). */
  void load(const std::set<std::uint32_t>& jobs, Since since);

  /** A job with nodes that was being configured runs now: slurmctld's engine says so, which saves a call. */
  void note_start(std::uint32_t job);

  const KnownJobs& known() const { return known_; }
  /** When slurmctld last answered with jobs; {}: never. */
  TimePoint answered() const { return answered_; }
  /** How long slurmctld took for the last list. */
  TimePoint::duration list_time() const { return list_time_; }

 private:
  void load_list(bool is_whole, Since since_when);
  void take(TimePoint asked, std::time_t since, Result<std::optional<std::vector<Allocation>>> answer);
  void take(std::uint32_t id, TimePoint asked, Result<std::optional<Allocation>> answer);
  void note(Allocation& job, Allocation::State state);
  bool is_older(std::uint32_t job, TimePoint asked) const;
  void call(AllocationCaller::Work work);
  void warn(const std::string& what, const Error& error);

  AllocationCaller& caller_;
  const Clock& clock_;
  const Changed changed_;
  const Wanted wanted_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // what follows a call may come later
  KnownJobs known_;
  TimePoint answered_{};
  TimePoint::duration list_time_{};
  std::time_t since_ = 0;
  std::set<std::uint32_t> asked_for_;         // in the last load()
  std::map<std::uint32_t, TimePoint> noted_;  // jobs whose state is known without a call, and since when
  bool loading_ = false;
  bool has_changed_ = false;                    // while it loads: a list that was answered before may lack it
  std::map<std::uint32_t, bool> loading_jobs_;  // whether to ask once more: a job may have changed since the call
  std::set<std::uint32_t> ending_jobs_;
  LogLimiter limiter_{std::chrono::seconds(10)};
};

}  // namespace slurmk8s
