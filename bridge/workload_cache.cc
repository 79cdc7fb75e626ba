// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of Jobs and PodGroups.
#include "bridge/workload_cache.hpp"

namespace slurmk8s {

WorkloadCache::WorkloadCache(kube::Reader& client, const Clock& clock, Changed changed)
    : client_(client), clock_(clock), changed_(std::move(changed)) {}

WorkloadCache::~WorkloadCache() {
  for (const auto& [workload, entry] : entries_) {
    if (entry.request != 0) client_.cancel(entry.request);
  }
}

std::optional<Workload> WorkloadCache::find(const WorkloadRef& workload, std::string& why) {
  const std::optional<kube::Resource> resource = resource_of(workload);
  if (!resource) return Workload{};
  Entry& entry = entries_[workload];
  const TimePoint now = clock_.now();
  const bool is_fresh = entry.at != TimePoint{} && now < entry.at + (entry.workload ? kKeep : kRetry);
  entry.asked = now;
  if (!is_fresh && entry.request == 0) ask(workload, *resource);
  why = entry.error;
  return entry.workload;
}

void WorkloadCache::ask(const WorkloadRef& workload, const kube::Resource& resource) {
  entries_[workload].request =
      client_.get({resource, workload.name_space, workload.name}, [this, workload](const Result<Json>& answer) {
        Entry& entry = entries_[workload];
        entry.request = 0;
        entry.at = clock_.now();
        entry.error = answer ? "" : answer.error().message();
        if (answer) entry.workload = decode_workload(workload, *answer);
        // Its pods are the garbage collector's.
        if (!answer && answer.error().code() == Errc::not_found) entry.workload.reset();
        changed_(workload);
      });
}

void WorkloadCache::prune() {
  std::erase_if(entries_,
                [&](const auto& one) { return one.second.request == 0 && clock_.now() >= one.second.asked + kKeep; });
}

}  // namespace slurmk8s
