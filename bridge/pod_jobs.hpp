// SPDX-License-Identifier: GPL-2.0-or-later
// Where pods of the bridge's jobs are, or may be soon: what the engine is told. Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bridge/gang.hpp"
#include "control/pod_jobs.hpp"

namespace slurmk8s {

/** Kubernetes nodes of Slurm nodes, by the name of the latter. */
using KubeNodes = std::map<std::string, std::string>;

/**
 * The jobs of `gangs`, but those that are over and without a running pod. A job that runs has all of its nodes, and
 * occupies others where pods of it are: slurmctld may have given it other nodes, or taken some. One that is over has
 * those where its pods still end. `gangs` must have all gangs of a job, or none.
 * `is_current`: `known` is of the slurmctld that is told this. If not, it may have given the id of each job to another
 * one: nodes with pods count as occupied until it is known.
 */
PodJobs list_pod_jobs(const std::vector<const Gang*>& gangs, const WorkloadPods& pods, const KnownJobs& known,
                      const KubeNodes& kube_nodes, bool is_current);

}  // namespace slurmk8s
