// SPDX-License-Identifier: GPL-2.0-or-later
// PodJobs: the jobs of slurm-k8s-bridge in this slurmctld. It tells the engine when they begin and end to run, and
// knows where pods of them are, so that no launch meets pods of a job that is over. No Slurm header.
//
// slurmctld has no event for the end of a job that a plugin may miss without harm, so a thread looks at all jobs every
// 50 ms while there are any (more rarely with thousands of them). New jobs, those on other nodes and those that have
// just been launched are looked at without waiting for that.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/locked.hpp"

namespace slurmk8s {

class PodJobs {
 public:
  /** By job: a hostlist of the nodes where pods of it are, or may be soon; empty: nowhere. */
  using Nodes = std::map<std::uint32_t, std::string>;
  /** Whether each job runs. */
  using Running = std::map<std::uint32_t, bool>;

  struct Host {
    /** Which of the jobs run, in order, under Slurm's read locks. Empty: slurmctld is ending. This object's thread. */
    std::function<std::vector<bool>(const std::vector<std::uint32_t>& jobs)> poll;
    /** Tells the engine of new jobs, those on other nodes and those that have changed. Its thread; no locks. */
    std::function<void(std::uint64_t number, const Running& changed)> report;
  };

  /**
   * `expected`: there is a bridge, which will say where pods are. Until then, and for kPatience at most, it is unknown
   * whether a node is free.
   */
  PodJobs(Host host, const Clock& clock, bool expected);
  ~PodJobs() { stop(); }
  PodJobs(const PodJobs&) = delete;
  PodJobs& operator=(const PodJobs&) = delete;

  /** Ends the thread: report() is not called any more. */
  void stop();
  /** All jobs of the bridge; see slurm_k8s_host.set_pod_jobs. The engine's thread. */
  std::uint64_t set(Nodes jobs, bool report_all);
  /** This slurmctld has lost control: what it knows is out of date. Any thread. */
  void forget();
  /** Has the thread look at a job now, if it is of the bridge: it has been launched. Any thread, as nodes(). */
  void look(std::uint32_t job);

  /** Where pods are or may be; never null. Any thread, also under Slurm's locks: its own is held for a moment. */
  std::shared_ptr<const Nodes> nodes();
  /** Whether the bridge has still to say where pods are. As nodes(). */
  bool is_unknown();

  /** Looks at what is due, as the thread does. For tests. */
  void poll_once();

  static constexpr std::chrono::seconds kPatience{30};

 private:
  struct State {
    std::shared_ptr<const Nodes> nodes = std::make_shared<const Nodes>();
    std::uint64_t number = 0;
    bool report_all = false;
    std::set<std::uint32_t> soon;  ///< to be looked at now, and reported
    bool fresh = false;            ///< set() or look() since the last poll
    TimePoint all_due{};           ///< when all are looked at
    TimePoint since{};             ///< when the bridge began to be expected
    bool unknown = true;           ///< it has said nothing since
    bool stop = false;
  };
  /** What one poll is about. */
  struct Poll {
    std::shared_ptr<const Nodes> nodes;
    std::uint64_t number = 0;
    bool report_all = false;
    bool is_all = false;
    std::set<std::uint32_t> soon;
  };

  void run();
  Poll begin_poll();
  void end_poll(const Poll& poll, TimePoint begin, bool is_answered);
  std::optional<Running> ask(const Poll& poll);
  Running find_changed(const Poll& poll, const Running& running);

  const Host host_;
  const Clock& clock_;
  const bool expected_;
  Running known_;               // the thread's
  std::uint64_t reported_ = 0;  // the thread's
  Locked<State> state_;
  std::condition_variable changed_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace slurmk8s
