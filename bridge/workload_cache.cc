// SPDX-License-Identifier: GPL-2.0-or-later
// Look-ups of Jobs and PodGroups.
#include "bridge/workload_cache.hpp"

#include <utility>

namespace slurmk8s {

WorkloadCache::WorkloadCache(kube::Reader& client, const Clock& clock, Changed changed)
    : workloads_(client, clock,
                 {.locate =
                      [](const WorkloadRef& workload) {
                        return kube::ObjectRef{*resource_of(workload), workload.name_space, workload.name};
                      },
                  .decode = decode_workload,
                  .is_finished = [](const Workload&) { return true; },
                  .max_retry = kMaxRetry,
                  .changed = std::move(changed)}) {}

std::optional<Workload> WorkloadCache::find(const WorkloadRef& workload, std::string& why) {
  if (!resource_of(workload)) return Workload{};
  const auto& answer = workloads_.find(workload);
  why = answer.error;
  return answer.value;
}

}  // namespace slurmk8s
