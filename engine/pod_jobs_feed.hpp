// SPDX-License-Identifier: GPL-2.0-or-later
// PodJobsFeed: between slurm-k8s-bridge on the engine's socket, and the plugin that asks slurmctld about its jobs. One
// bridge at a time: the last one that said something. The engine's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "control/control.hpp"
#include "control/pod_jobs.hpp"

namespace slurmk8s {

class PodJobsFeed {
 public:
  /**
   * Hands jobs to the plugin, and returns the number that it gives them, larger each time; 0: it takes none now.
   * `report_all`: its next report is about all of them, and not about changes alone.
   */
  using SetJobs = std::function<std::uint64_t(const PodJobs& jobs, bool report_all)>;
  using Push = std::function<bool(ControlServer::Id bridge, const Json& message)>;

  /** `set_jobs` empty: the plugin can't look after them. */
  PodJobsFeed(SetJobs set_jobs, Push push) : set_jobs_(std::move(set_jobs)), push_(std::move(push)) {}

  /** A message of a bridge. Errors: invalid, of decode_pod_jobs(); unavailable, without a plugin that takes them. */
  Status take(const Json& message, ControlServer::Id bridge);
  /** Whether the bridge has this connection. */
  bool is_bridge(ControlServer::Id connection) const { return connection == bridge_ && bridge_ != 0; }
  /** What the plugin says, of the jobs with `number` and all before. Goes to the bridge. */
  void report(std::uint64_t number, std::map<std::uint32_t, bool> running);

 private:
  const SetJobs set_jobs_;
  const Push push_;
  ControlServer::Id bridge_ = 0;       // 0: none
  std::uint64_t taken_ = 0;            // messages of this bridge that the plugin has asked slurmctld about
  std::deque<std::uint64_t> waiting_;  // numbers of those that it has not
};

}  // namespace slurmk8s
