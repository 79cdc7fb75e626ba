// SPDX-License-Identifier: GPL-2.0-or-later
// Pods with a job, by workload.
#include "bridge/started_workloads.hpp"

#include <algorithm>

namespace slurmk8s {

void StartedWorkloads::note(const WorkloadPod& pod) {
  if (pod.attempt.empty() || pod.job == 0 || pod.deleting) return forget(pod);
  const bool has_failed = pod.is_over() && pod.end.kind != PodEnd::Kind::succeeded;
  pods_[{pod.group, pod.attempt}][pod.uid] = has_failed ? EarlierPods::ended : EarlierPods::alive;
}

void StartedWorkloads::forget(const WorkloadPod& pod) {
  const auto run = pods_.find({pod.group, pod.attempt});
  if (run == pods_.end()) return;
  run->second.erase(pod.uid);
  if (run->second.empty()) pods_.erase(run);
}

EarlierPods StartedWorkloads::find(const WorkloadRun& run) const {
  const auto found = pods_.find(run);
  if (found == pods_.end()) return EarlierPods::none;
  const auto is_alive = [](const auto& pod) { return pod.second == EarlierPods::alive; };
  return std::ranges::any_of(found->second, is_alive) ? EarlierPods::alive : EarlierPods::ended;
}

}  // namespace slurmk8s
