// SPDX-License-Identifier: GPL-2.0-or-later
// FastRequeue: jobs that lost a node to us begin again at once and not after Slurm's delay (AuthInfo=cred_expire). A
// job under which slurmd ended twice (slurmd_ends.hpp) is held instead.
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
#include "event/timers.hpp"
#include "slurm/runs_on_nodes.hpp"
#include "slurm/records.hpp"
#include "slurm/slurm_caller.hpp"

namespace slurmk8s {

/** What to do about a job whose run was lost. */
enum class RequeueStep {
  wait,   ///< its end is not done on all nodes, or the second of its requeue is not over
  begin,  ///< it waits for Slurm's delay alone: it may begin now
  hold,   ///< it is pending, and LostRun::held_for says why it must not begin
  leave,  ///< it runs, ended, is held, or waits for something else
};

/** `delay`: SlurmConfig::requeue_delay. `now`: slurmctld's time of day. Pure. */
RequeueStep judge_requeue(const LostRun& lost, const SlurmJob& job, std::chrono::seconds delay, std::time_t now);

/** The engine's thread. */
class FastRequeue {
 public:
  /** A job that loses nodes again and again gets Slurm's delay from the next time on. */
  static constexpr std::size_t kMaxTimes = 3;
  static constexpr std::chrono::minutes kTimesWithin{10};
  /** Jobs that are looked after at the same time; others get Slurm's delay. */
  static constexpr std::size_t kMaxJobs = 1000;
  /** The same with those that are to be held: as many as SlurmdEnds remembers come on top. */
  static constexpr std::size_t kMaxWithHeld = 5000;
  /** Jobs of one look, an RPC or two each: then other calls have their turn. */
  static constexpr std::size_t kJobsPerPoll = 100;
  /** How long a job's end is waited for. */
  static constexpr std::chrono::seconds kPatience{120};
  /** The same for a job to be held: without that it would end the next slurmd. A node that is lost, too, takes long. */
  static constexpr std::chrono::seconds kHoldPatience{3600};

  /** `began` is called when a job may begin now. References must outlive it. */
  FastRequeue(SlurmCaller& slurm, Timers& timers, const Clock& clock, std::function<void()> began);

  /**
   * Jobs of a node that slurmctld has just been told is lost. Those to be held are held as often as it takes. A later
   * run of a job takes the place of a former one.
   */
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
  struct Step {
    LostRun lost;
    RequeueStep step;
  };
  struct Polled {
    std::vector<Step> steps;
    std::optional<std::chrono::seconds> delay;
    TimePoint::duration took{};
  };

  bool has_room_for(const LostRun& run) const;
  /** Whether the job has begun at once too often. */
  bool keeps_delay(const LostRun& run, TimePoint now) const;
  void poll();
  std::vector<LostRun> next_jobs();
  void on_polled(const Polled& result);
  void note_begin(std::uint32_t job, TimePoint now);
  std::chrono::milliseconds next_poll(TimePoint::duration took) const;
  void forget_past();

  SlurmCaller& slurm_;
  Timers& timers_;
  const Clock& clock_;
  const std::function<void()> began_;
  std::map<std::uint32_t, Waiting> waiting_;
  std::map<std::uint32_t, Past> past_;
  bool polling_ = false;                       // a poll is under way, or a timer for one is set
  std::uint32_t last_ = 0;                     // job of the last look
  unsigned polls_ = 0;                         // since the last new job
  std::optional<std::chrono::seconds> delay_;  // slurmctld's, while there are jobs
};

}  // namespace slurmk8s
