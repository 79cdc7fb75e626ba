// SPDX-License-Identifier: GPL-2.0-or-later
// Workload: the object that a pod belongs to (a Job, a PodGroup): which of its pods start together. Pure; any thread.
#pragma once

#include <cstdint>

#include "bridge/workload_pod.hpp"
#include "json/json.hpp"
#include "kube/resource.hpp"

namespace slurmk8s {

struct Workload {
  /** Its pods start together: one Slurm job for all. Otherwise each pod has a job of its own. */
  bool is_gang = false;
  std::uint32_t min_pods = 1;  ///< of a gang: fewer don't start
  std::uint32_t all_pods = 1;  ///< of a gang: more aren't to be expected
  JobAnnotations annotations;
};

/** Where the object of a workload is; empty: the workload is a pod, which has no other object. */
std::optional<kube::Resource> resource_of(const WorkloadRef& workload);

/**
 * - An Indexed Job of more than one pod is a gang: all that run at a time. Other Jobs are not: their pods don't know of
 *   each other.
 * - A JobSet is a gang of all pods of its Jobs. With an order of its Jobs (startupPolicy InOrder, dependsOn) the pods
 *   come one Job after the other: those that are there make a gang.
 * - A group of a LeaderWorkerSet is a gang; with startupPolicy LeaderReady the leader starts before its workers.
 * - A PodGroup is a gang of spec.minMember pods or more.
 */
Workload decode_workload(const WorkloadRef& ref, const Json& object);

}  // namespace slurmk8s
