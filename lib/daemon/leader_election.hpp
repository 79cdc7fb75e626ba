// SPDX-License-Identifier: GPL-2.0-or-later
// LeaderElection: a LeaderLease on a thread of its own, so that a slurmctld that lets the main loop wait for an answer
// doesn't cost us the lease.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "settings/connection.hpp"
#include "daemon/lease_options.hpp"

namespace slurmk8s {

class LeaderElection {
 public:
  /** How long the end waits for the lease to be given back; then it runs out by itself. */
  static constexpr std::chrono::seconds kGiveBack{3};

  /**
   * Connects to the API server of `options`, whose namespace has the lease, and is filled in when it is empty; sends no
   * request yet. Null without --leader-elect.
   */
  static Result<std::unique_ptr<LeaderElection>> open(Options& options, const LeaseOptions& lease);
  /** Only the new thread uses the arguments from now on. It inherits the signals that the caller blocks. */
  LeaderElection(std::shared_ptr<EventLoop> loop, std::shared_ptr<kube::Client> client, std::string name_space,
                 LeaseOptions options);
  /** Withdraws, and waits for at most kGiveBack. */
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  /**
   * Wants the lease while `has_work`, and leaves it to others otherwise, such as a daemon whose slurmctld is not in
   * control. Whether there is work, and the lease is ours. Returns at once. Any thread, as what follows.
   */
  bool leads_with(bool has_work) {
    want(has_work);
    return has_work && leads();
  }
  /** Whether it is ours: surely, and now. */
  bool leads() const { return wanted_ && loop_->clock()->now() < held_until_.load(); }

 private:
  void want(bool wanted);
  void run();

  const std::shared_ptr<EventLoop> loop_;
  const std::shared_ptr<kube::Client> client_;
  const std::string name_space_;
  const LeaseOptions options_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> stop_{false};
  std::atomic<TimePoint> held_until_{TimePoint{}};
  std::thread thread_;
};

}  // namespace slurmk8s
