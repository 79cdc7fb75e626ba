// SPDX-License-Identifier: GPL-2.0-or-later
// Launches: jobs whose PrologSlurmctld is held until all of their nodes have registered. No Slurm header.
//
// slurmctld has no event for "the last node of the job has registered", so a thread polls every 20 ms while a
// job is held (more rarely with thousands of them). Each job's prolog is completed exactly once.
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

/** State of a job whose prolog is held. */
enum class JobState {
  waiting,  ///< being configured: not all nodes have registered
  ready,    ///< all of its nodes have registered
  gone,     ///< ended, requeued or purged
};

class Launches {
 public:
  struct Host {
    /** States of jobs, in order, under Slurm's read locks. The launch thread only. */
    std::function<std::vector<JobState>(const std::vector<std::uint32_t>& jobs)> poll;
    /**
     * Completes a job's prolog; takes Slurm's locks. `ok` false: slurmctld requeues the job. The launch thread only.
     */
    std::function<void(std::uint32_t job, bool ok)> complete;
    /**
     * Wakes slurmctld's power-save thread if it has something to do; may be empty. Takes Slurm's locks. The launch
     * thread only.
     */
    std::function<void(Wake)> wake_power_save;
  };

  Launches(Host host, const Clock& clock, std::chrono::seconds timeout);
  /**
   * Ends the thread. Held jobs are not completed: slurmctld calls the hook for them again after its restart.
   */
  ~Launches();
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  /** Holds a job. Called under Slurm's locks: takes a mutex that is never held during a call to Slurm. */
  void hold(std::uint32_t job);

  /**
   * Drops all jobs without completing them: this slurmctld has lost control, and its job records are out of date. The
   * slurmctld in control calls the hook again. Any thread.
   */
  void forget();

  /** Has the power-save thread woken for nodes that no held job waits for. Any thread. */
  void wake_power_save();

  /** Polls all held jobs once, as the thread does. For tests. */
  void poll_once();

 private:
  struct State {
    /** Each held job, with the time of each of its prologs: slurmctld counts them too. */
    std::map<std::uint32_t, std::vector<TimePoint>> jobs;
    bool fresh = false;               ///< a job was held since the last poll
    bool woken = false;               ///< wake_power_save() was called since the last poll
    TimePoint::duration poll_time{};  ///< of the last poll of all jobs
    PowerSaveTicks ticks;
    bool stop = false;
  };

  void run();
  void poll_jobs(const std::vector<std::uint32_t>& jobs);
  std::chrono::milliseconds next_poll(const State& state) const;
  void finish(std::uint32_t job, bool ok);

  Host host_;
  const Clock& clock_;
  const std::chrono::seconds timeout_;
  Locked<State> state_;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace slurmk8s
