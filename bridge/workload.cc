// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs, JobSets, LeaderWorkerSets and PodGroups.
#include "bridge/workload.hpp"

#include <algorithm>
#include <limits>

namespace slurmk8s {
namespace {

constexpr kube::Resource kJobs{"batch/v1", "jobs"};
constexpr kube::Resource kJobSets{"jobset.x-k8s.io/v1alpha2", "jobsets"};
constexpr kube::Resource kLeaderWorkerSets{"leaderworkerset.x-k8s.io/v1", "leaderworkersets"};
constexpr kube::Resource kPodGroups{"scheduling.x-k8s.io/v1alpha1", "podgroups"};

constexpr std::uint32_t kMaxPods = 65536;  // nodes of a Slurm

std::uint32_t count_of(const Json& value, std::int64_t fallback) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value.integer_or(fallback), 1, kMaxPods));
}

/** Of a Job: how many of its pods run at a time. */
std::uint32_t pods_at_a_time(const Json& spec) {
  const std::uint32_t parallelism = count_of(spec["parallelism"], 1);
  return std::min(parallelism, count_of(spec["completions"], parallelism));
}

void decode_job_set(const Json& spec, Workload& workload) {
  std::uint64_t all = 0;
  std::uint32_t fewest = kMaxPods;  // of a Job that comes alone
  bool is_ordered = spec.at({"startupPolicy", "startupPolicyOrder"}).text() == "InOrder";
  spec["replicatedJobs"].each([&](const Json& job) {
    const std::uint32_t in_job = pods_at_a_time(job.at({"template", "spec"}));
    all += std::uint64_t{count_of(job["replicas"], 1)} * in_job;
    fewest = std::min(fewest, in_job);
    is_ordered = is_ordered || job["dependsOn"].size() != 0;
  });
  workload.all_pods = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(all, 1, kMaxPods));
  workload.min_pods = is_ordered ? fewest : workload.all_pods;
  workload.is_gang = workload.all_pods > 1;
}

void decode_leader_worker_set(const Json& spec, Workload& workload) {
  workload.all_pods = count_of(spec.at({"leaderWorkerTemplate", "size"}), 1);
  workload.min_pods = spec["startupPolicy"].text() == "LeaderReady" ? 1 : workload.all_pods;
  workload.is_gang = workload.all_pods > 1;
}

}  // namespace

std::optional<kube::Resource> resource_of(const WorkloadRef& workload) {
  if (workload.kind == "Job") return kJobs;
  if (workload.kind == "JobSet") return kJobSets;
  if (workload.kind == "LeaderWorkerSet") return kLeaderWorkerSets;
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
    workload.min_pods = workload.all_pods = pods_at_a_time(spec);
    workload.is_gang = workload.min_pods > 1;
  } else if (ref.kind == "JobSet") {
    decode_job_set(spec, workload);
  } else if (ref.kind == "LeaderWorkerSet") {
    decode_leader_worker_set(spec, workload);
  }
  return workload;
}

}  // namespace slurmk8s
