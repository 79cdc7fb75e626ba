// SPDX-License-Identifier: GPL-2.0-or-later
// EngineLink: the bridge's connection to the engine in slurmctld (EngineSocket). The engine is told about the bridge's
// jobs, holds launches on nodes where pods of jobs that are over still end, and says at once which jobs have begun or
// ended to run. The thread of one event loop.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "control/pod_jobs.hpp"
#include "event/event_loop.hpp"

namespace slurmk8s {

class EngineLink {
 public:
  /** Jobs that have begun or ended to run; none: the connection has come or gone, or set() has taken effect. */
  using Changed = std::function<void(const std::map<std::uint32_t, bool>& running)>;

  /** `path`: of the engine's socket. `loop` must outlive this. `changed` is never called from within a call. */
  EngineLink(EventLoop& loop, std::string path, Changed changed);
  ~EngineLink() { close(); }
  EngineLink(const EngineLink&) = delete;
  EngineLink& operator=(const EngineLink&) = delete;

  /** Whether an engine listens there: its slurmctld is in control. A local connection, which takes no time. */
  static bool is_there(const std::string& path);
  /** Connects, now and whenever the connection is lost. */
  void start();
  /**
   * Of the jobs in `about` these are in `jobs` now; the others are no more. What differs from what was sent is sent,
   * once the engine has answered to that; all jobs on a new connection.
   */
  void set(const std::set<std::uint32_t>& about, const PodJobs& jobs);
  /** Whether the engine is there, and has said something: then it tells whatever changes. */
  bool is_up() const { return reports_ > 0; }
  /** When it first said something on this connection; in the past when it has not. */
  TimePoint up_since() const { return up_since_; }
  /**
   * Whether pods of a job may be bound: it ran at a moment at which slurmctld knew already where its pods would be, so
   * that no launch can miss them.
   */
  bool may_bind(std::uint32_t job) const;

 private:
  struct Job {
    PodNodes where;             // as sent
    std::uint64_t message = 0;  // the first one that had it with these nodes
    bool runs = false;          // as the last report said that was about it
  };

  void connect();
  void close();
  void lose(const std::string& why);
  void ready();
  void send_changes();
  PodJobsChange find_changes() const;
  bool send();
  bool receive();
  void take_line(const std::string& line);
  void take_report(const PodJobsReport& report);

  EventLoop& loop_;
  const std::string path_;
  const Changed changed_;
  UniqueFd fd_;
  std::string unsent_;
  std::string received_;
  PodJobs jobs_;                          // all of the bridge's
  std::set<std::uint32_t> changed_jobs_;  // that may differ from what was sent
  std::map<std::uint32_t, Job> sent_;
  std::uint64_t messages_ = 0;  // sent on this connection
  std::uint64_t reports_ = 0;   // messages that slurmctld has taken
  TimePoint up_since_{};
  Timers::Id retry_ = 0;
  LogLimiter limiter_{std::chrono::minutes(1)};
};

}  // namespace slurmk8s
