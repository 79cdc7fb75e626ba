// SPDX-License-Identifier: GPL-2.0-or-later
// PodJobs: the jobs of slurm-k8s-bridge in this slurmctld. It tells the engine when they begin and end to run, and
// knows where pods of them are, so that no launch meets pods of a job that is over. No Slurm header.
//
// slurmctld has no event for the end of a job that a plugin may miss without harm, so a thread looks every 50 ms while
// there are such jobs (more rarely with thousands of them).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
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
    /** Tells the engine; none of Slurm's locks. This object's thread. */
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
  /** All jobs of the bridge; see slurm_k8s_host.set_pod_jobs. Any thread. */
  std::uint64_t set(Nodes jobs, bool report_all);
  /** This slurmctld has lost control: what it knows is out of date. Any thread. */
  void forget();
  /** Has the thread look now: a job has been launched. Any thread. */
  void look();

  /** Where pods are or may be; never null. Any thread, also under Slurm's locks: its own is held for a moment. */
  std::shared_ptr<const Nodes> nodes();
  /** Whether the bridge has still to say where pods are. As nodes(). */
  bool is_unknown();

  /** Looks once, as the thread does. For tests. */
  void poll_once();

  static constexpr std::chrono::seconds kPatience{30};

 private:
  struct State {
    std::shared_ptr<const Nodes> nodes = std::make_shared<const Nodes>();
    std::uint64_t number = 0;
    bool report_all = false;
    bool fresh = false;   ///< set() or look() since the last poll
    TimePoint since{};    ///< when the bridge began to be expected
    bool unknown = true;  ///< it has said nothing since
    bool stop = false;
    TimePoint::duration poll_time{};
  };

  void run();
  Running ask(const Nodes& nodes);

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
