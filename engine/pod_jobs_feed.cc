// SPDX-License-Identifier: GPL-2.0-or-later
// The bridge's jobs, to the plugin and back.
#include "engine/pod_jobs_feed.hpp"

namespace slurmk8s {

Status PodJobsFeed::take(const Json& message, ControlServer::Id bridge) {
  if (!set_jobs_) return Error(Errc::unavailable, "op: pod_jobs needs PrEpPlugins=prep/k8s in slurm.conf");
  const PodJobs jobs = SLURMK8S_TRY(decode_pod_jobs(message));
  const bool is_new = !is_bridge(bridge);
  const std::uint64_t number = set_jobs_(jobs, is_new);
  if (number == 0) return Error(Errc::unavailable, "op: pod_jobs: slurmctld is starting or ending");
  if (is_new) {
    bridge_ = bridge;
    taken_ = 0;
    waiting_.clear();
  }
  waiting_.push_back(number);
  return {};
}

void PodJobsFeed::report(std::uint64_t number, std::map<std::uint32_t, bool> running) {
  for (; !waiting_.empty() && waiting_.front() <= number; waiting_.pop_front()) ++taken_;
  if (bridge_ == 0 || taken_ == 0) return;  // what is said to a new bridge comes in its first report
  if (!push_(bridge_, encode_report({taken_, std::move(running)}))) bridge_ = 0;
}

}  // namespace slurmk8s
