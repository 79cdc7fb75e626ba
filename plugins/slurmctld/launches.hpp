// SPDX-License-Identifier: GPL-2.0-or-later
// Launches: the jobs whose PrologSlurmctld we hold until all of their nodes have registered. No Slurm header.
//
// slurmctld has no event for "the last node of the job has registered", so a thread looks every 20 ms while there is
// such a job (with thousands of them less often). Each job's prolog is completed exactly once.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/locked.hpp"
#include "slurmctld/power_save_ticks.hpp"

namespace slurmk8s {

/** What slurmctld says of a job whose prolog is held. */
enum class JobState {
  waiting,  ///< it is being configured: a node is not there yet
  ready,    ///< all of its nodes are there
  gone,     ///< it ended, was requeued or purged: nothing to wait for
};

class Launches {
 public:
  struct Host {
    /** Looks at jobs under Slurm's read locks; one answer per job, in order. The launch thread only. */
    std::function<std::vector<JobState>(const std::vector<std::uint32_t>& jobs)> look;
    /**
     * Completes a job's prolog; it takes Slurm's locks itself. `ok` false: the job is requeued. The launch thread only.
     */
    std::function<void(std::uint32_t job, bool ok)> complete;
    /**
     * Wakes slurmctld's power-save thread, or doesn't when that is of no use; may be empty. It takes Slurm's locks. The
     * launch thread only.
     */
    std::function<void(Wake)> wake_power_save;
  };

  Launches(Host host, const Clock& clock, std::chrono::seconds timeout);
  /**
   * Ends the thread. Jobs still held are not completed: slurmctld is going, and runs the hook again when it is back.
   */
  ~Launches();
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  /** Holds a job. Called under Slurm's locks: takes a mutex that is never held during a call to Slurm. */
  void hold(std::uint32_t job);

  /**
   * Drops all jobs without completing them: slurmctld has lost control, and what it knows of them is no longer true.
   * The one that has it now, or this one when it is back, runs the hook again. Any thread.
   */
  void forget();

  /** Nodes are to be powered up or down that no held job is about: the power-save thread is to look. Any thread. */
  void wake_power_save();

  /** One look at all held jobs, as the thread does it. For tests. */
  void look_once();
  std::size_t held();

 private:
  struct State {
    /** Each held job and the times since which it is held: slurmctld counts its prologs, and so do we. */
    std::map<std::uint32_t, std::vector<TimePoint>> jobs;
    bool fresh = false;                ///< a job was held since the last look
    bool woken = false;                ///< wake_power_save() was called since the last look
    TimePoint::duration looked_for{};  ///< by the last look at all jobs
    PowerSaveTicks ticks;
    bool stop = false;
  };

  void run();
  void look_at(const std::vector<std::uint32_t>& jobs);
  std::chrono::milliseconds next_look(const State& state) const;
  void finish(std::uint32_t job, bool ok);

  Host host_;
  const Clock& clock_;
  const std::chrono::seconds timeout_;
  Locked<State> state_;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace slurmk8s
