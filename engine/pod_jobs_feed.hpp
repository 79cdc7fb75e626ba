// SPDX-License-Identifier: GPL-2.0-or-later
// PodJobsFeed: between slurm-k8s-bridge on the engine's socket, and the plugin that asks slurmctld about its jobs. One
// bridge at a time: the last one that said something. The engine's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>

#include "control/control.hpp"
#include "control/pod_jobs.hpp"

namespace slurmk8s {

class PodJobsFeed {
 public:
  /**
   * Hands a change of the jobs to the plugin, and returns the number that it gives it, larger each time; 0: it takes
   * none now. One with all jobs is of a new bridge: the next report is about all of them, and not about changes alone.
   */
  using SetJobs = std::function<std::uint64_t(const PodJobsChange& change)>;
  using Push = std::function<bool(ControlServer::Id bridge, const Json& message)>;

  /** `set_jobs` empty: the plugin can't look after them. */
  PodJobsFeed(SetJobs set_jobs, Push push) : set_jobs_(std::move(set_jobs)), push_(std::move(push)) {}

  /**
   * A message of a bridge. Errors: invalid, of decode_pod_jobs(), and for a new bridge that does not tell all jobs;
   * unavailable, without a plugin that takes them. After an error the bridge has to begin with all jobs.
   */
  Status take(const Json& message, ControlServer::Id bridge);
  /** Whether the bridge has this connection. */
  bool is_bridge(ControlServer::Id connection) const { return connection == bridge_ && bridge_ != 0; }
  /** What the plugin says, of the jobs with `number` and all before. Goes to the bridge. */
  void report(std::uint64_t number, std::map<std::uint32_t, bool> running);

 private:
  Error refuse();

  const SetJobs set_jobs_;
  const Push push_;
  std::set<std::uint32_t> jobs_;       // that the plugin has
  ControlServer::Id bridge_ = 0;       // 0: none
  std::uint64_t taken_ = 0;            // messages of this bridge that the plugin has asked slurmctld about
  std::deque<std::uint64_t> waiting_;  // numbers of those that it has not
};

}  // namespace slurmk8s
