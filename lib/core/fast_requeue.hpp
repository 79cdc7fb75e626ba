// SPDX-License-Identifier: GPL-2.0-or-later
// FastRequeue: jobs that lost a node to us begin again at once and not after Slurm's delay (AuthInfo=cred_expire).
//
// slurmctld gives a requeued job a time to begin that lies a credential's lifetime ahead: a node that was in the former
// run refuses credentials that are not newer than the order to end it. They are newer in the next second already, and a
// new pod has never seen the former run. So the delay is taken away when the former run has ended on all of its nodes
// and that second is over. A time to begin that a user chose, a hold and a requeue by a person stay as they are.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "base/timers.hpp"
#include "core/slurm.hpp"
#include "core/slurm_caller.hpp"

namespace slurmk8s {

/** A job that ran on a node just before slurmctld was told that the node is lost. */
struct LostRun {
  std::uint32_t job = 0;
  std::uint32_t restarts = 0;  ///< of the job until then
  std::time_t submitted = 0;   ///< as slurmctld had it: a requeue sets it again
};

/** What to do about a job whose run was lost. */
enum class RequeueStep {
  wait,   ///< its end is not done on all nodes, or the second of its requeue is not over
  begin,  ///< it waits for Slurm's delay alone: it may begin now
  leave,  ///< it runs, ended, is held, or waits for something else
};

/** `delay`: SlurmConfig::requeue_delay. `now`: slurmctld's time of day. Pure. */
RequeueStep judge_requeue(const LostRun& lost, const SlurmJob& job, std::chrono::seconds delay, std::time_t now);

/**
 * The jobs on each node, for failures that come together: slurmctld is asked for all jobs once per kKeep, and no more
 * than a twentieth of the time. A job that began since then is not known: it keeps Slurm's delay. The thread of the
 * Slurm calls alone.
 */
class RunsOnNodes {
 public:
  static constexpr std::chrono::seconds kKeep{1};

  /**
   * Running jobs that have `node`, and the other components of heterogeneous ones. None when slurmctld can't be asked.
   * `now`: when the node was found lost.
   */
  std::vector<LostRun> on(Slurm& slurm, const std::string& node, TimePoint now);

 private:
  void load(Slurm& slurm, TimePoint now);

  TimePoint keep_until_{};
  std::vector<SlurmRun> runs_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_node_;  // indices into runs_
};

/** The engine's thread. */
class FastRequeue {
 public:
  /** A job that loses nodes again and again gets Slurm's delay from the next time on. */
  static constexpr std::size_t kMostTimes = 3;
  static constexpr std::chrono::minutes kTimesWithin{10};
  /** Jobs that are looked after at the same time; others get Slurm's delay. */
  static constexpr std::size_t kMostJobs = 1000;
  /** Jobs of one look, an RPC or two each: then other calls have their turn. */
  static constexpr std::size_t kJobsPerLook = 100;
  /** A job's end is waited for so long. */
  static constexpr std::chrono::seconds kPatience{120};

  /** `began` is called when a job may begin now. References must outlive it. */
  FastRequeue(SlurmCaller& slurm, Timers& timers, const Clock& clock, std::function<void()> began);

  /** Jobs of a node that slurmctld has just been told is lost. */
  void add(const std::vector<LostRun>& lost);
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    LostRun lost;
    TimePoint until{};
  };
  struct Past {
    std::size_t times = 0;
    TimePoint last{};
  };
  struct Looked {
    std::map<std::uint32_t, RequeueStep> steps;
    std::optional<std::chrono::seconds> delay;
    TimePoint::duration took{};
  };

  void look();
  std::vector<LostRun> next_jobs();
  void looked(const Looked& result);
  std::chrono::milliseconds next_look(TimePoint::duration took) const;
  void forget_past();

  SlurmCaller& slurm_;
  Timers& timers_;
  const Clock& clock_;
  const std::function<void()> began_;
  std::map<std::uint32_t, Waiting> waiting_;
  std::map<std::uint32_t, Past> past_;
  bool looking_ = false;  // a look is under way, or a timer for one is set
  std::uint32_t last_ = 0;  // job of the last look
  unsigned looks_ = 0;      // since the last new job
  std::optional<std::chrono::seconds> delay_;  // slurmctld's, while there are jobs
};

}  // namespace slurmk8s
