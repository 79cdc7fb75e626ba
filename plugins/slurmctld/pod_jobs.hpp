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
  /** Where pods of a job are: hostlists; empty: nowhere. */
  struct Where {
    std::string nodes = {};  ///< also where they may be soon
    std::string over = {};   ///< of a job that is over, whatever slurmctld says of the job that has its id now
    bool operator==(const Where&) const = default;
  };
  using Nodes = std::map<std::uint32_t, Where>;
  /** Jobs that are new or on other nodes, and those that are no more. */
  struct Change {
    bool is_all = false;  ///< these are all jobs
    Nodes nodes = {};
    std::set<std::uint32_t> gone = {};
  };
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
  /** See slurm_k8s_host.set_pod_jobs. 0: what it changes is not known, after forget(). The engine's thread. */
  std::uint64_t set(const Change& change);
  /** This slurmctld has lost control: what it knows is out of date. Any thread. */
  void forget();
  /** Has the thread look at a job now, if it is of the bridge: it has been launched. Any thread, as has_jobs(). */
  void look(std::uint32_t job);

  /** Whether there are any. Any thread, also under Slurm's locks: its own is held for a moment. */
  bool has_jobs();
  /**
   * The jobs with pods, or with pods soon: not the ones that wait, of which there may be many. Never null. As
   * has_jobs().
   */
  std::shared_ptr<const Nodes> on_nodes();
  /** How many names of nodes on_nodes() has, a node of several jobs several times. As has_jobs(). */
  std::size_t name_count();
  /** Whether the bridge has still to say where pods are. As has_jobs(). */
  bool is_unknown();

  /** Looks at what is due, as the thread does. For tests. */
  void poll_once();

  static constexpr std::chrono::seconds kPatience{30};

 private:
  struct State {
    std::set<std::uint32_t> jobs;
    std::shared_ptr<const Nodes> on_nodes = std::make_shared<const Nodes>();
    std::size_t name_count = 0;  ///< of on_nodes
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
    std::vector<std::uint32_t> jobs;
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
