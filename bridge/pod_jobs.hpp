// SPDX-License-Identifier: GPL-2.0-or-later
// Where pods of the bridge's jobs are, or may be soon: what the engine is told. Pure; any thread.
#pragma once

#include <map>
#include <string>

#include "bridge/gang.hpp"
#include "control/pod_jobs.hpp"

namespace slurmk8s {

/** Kubernetes nodes of Slurm nodes, by the name of the latter. */
using KubeNodes = std::map<std::string, std::string>;

/**
 * All jobs of `gangs`, but those that are over and without a running pod. A job that runs has all of its nodes. One
 * that is over has those where its pods still end.
 */
PodJobs list_pod_jobs(const std::map<std::uint64_t, Gang>& gangs, const WorkloadPods& pods, const KnownJobs& known,
                      const KubeNodes& kube_nodes);

}  // namespace slurmk8s
