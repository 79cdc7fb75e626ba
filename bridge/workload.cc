// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs and PodGroups.
#include "bridge/workload.hpp"

#include <algorithm>
#include <limits>

namespace slurmk8s {
namespace {

constexpr kube::Resource kJobs{"batch/v1", "jobs"};
constexpr kube::Resource kPodGroups{"scheduling.x-k8s.io/v1alpha1", "podgroups"};

std::uint32_t count_of(const Json& value, std::int64_t fallback) {
  constexpr std::int64_t kMax = 65536;  // nodes of a Slurm
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value.integer_or(fallback), 1, kMax));
}

}  // namespace

std::optional<kube::Resource> resource_of(const WorkloadRef& workload) {
  if (workload.kind == "Job") return kJobs;
  if (workload.kind == "PodGroup") return kPodGroups;
  return std::nullopt;
}

Workload decode_workload(const WorkloadRef& ref, const Json& object) {
  const Json spec = object["spec"];
  Workload workload;
  workload.annotations = decode_job_annotations(object["metadata"]);
  if (ref.kind == "PodGroup") {
    workload.is_gang = true;
    workload.min_pods = count_of(spec["minMember"], 1);
    workload.all_pods = std::numeric_limits<std::uint32_t>::max();
  } else if (ref.kind == "Job" && spec["completionMode"].text() == "Indexed") {
    const std::uint32_t parallelism = count_of(spec["parallelism"], 1);
    workload.min_pods = workload.all_pods = std::min(parallelism, count_of(spec["completions"], parallelism));
    workload.is_gang = workload.min_pods > 1;
  }
  return workload;
}

}  // namespace slurmk8s
