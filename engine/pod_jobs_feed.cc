// SPDX-License-Identifier: GPL-2.0-or-later
// The bridge's jobs, to the plugin and back.
#include "engine/pod_jobs_feed.hpp"

#include "base/strings.hpp"

namespace slurmk8s {

Status PodJobsFeed::take(const Json& message, ControlServer::Id bridge) {
  if (!set_jobs_) return Error(Errc::unavailable, "op: pod_jobs needs PrEpPlugins=prep/k8s in slurm.conf");
  const PodJobsChange change = SLURMK8S_TRY(decode_pod_jobs(message));
  if (!change.is_all && !is_bridge(bridge)) return Error(Errc::invalid, "all: must be true in the first message");
  if (change.is_all) jobs_.clear();
  for (const std::uint32_t job : change.gone) jobs_.erase(job);
  for (const auto& [job, where] : change.jobs) jobs_.insert(job);
  const std::uint64_t number = jobs_.size() > kMaxPodJobs ? 0 : set_jobs_(change);
  if (number == 0) return refuse();
  if (change.is_all) {
    bridge_ = bridge;
    taken_ = 0;
    waiting_.clear();
  }
  waiting_.push_back(number);
  return {};
}

/** The bridge and the plugin may differ now: until all jobs are told again it is no bridge. */
Error PodJobsFeed::refuse() {
  bridge_ = 0;
  if (jobs_.size() > kMaxPodJobs) return Error(Errc::invalid, format("jobs: must be at most %zu", kMaxPodJobs));
  return Error(Errc::unavailable, "op: pod_jobs: slurmctld is starting or ending");
}

void PodJobsFeed::report(std::uint64_t number, std::map<std::uint32_t, bool> running) {
  for (; !waiting_.empty() && waiting_.front() <= number; waiting_.pop_front()) ++taken_;
  if (bridge_ == 0 || taken_ == 0) return;  // what is said to a new bridge comes in its first report
  if (!push_(bridge_, encode_report({taken_, std::move(running)}))) bridge_ = 0;
}

}  // namespace slurmk8s
