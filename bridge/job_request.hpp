// SPDX-License-Identifier: GPL-2.0-or-later
// The Slurm job of a workload. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bridge/identity.hpp"
#include "bridge/workload_pod.hpp"
#include "nodeset/bridge_devices.hpp"
#include "slurm/allocations.hpp"

namespace slurmk8s {

/** What a job's Comment has before its pods: "k8s:a/Job/train". */
std::string comment_of(const WorkloadRef& workload);

/** "k8s:team-a/Job/train:0123456789abcdef": whose job it is, and for which pods, in any order. */
std::string build_job_comment(const WorkloadRef& workload, std::vector<std::string> uids);

/** The namespace in a Comment that build_job_comment() wrote; empty: it wrote no such Comment. Part of `comment`. */
std::string_view find_job_namespace(std::string_view comment);

/** Whether a workload's annotation of this key, without its prefix, asks for something. */
bool is_job_annotation(const std::string& key);

/**
 * The job of `pods`, which start together: one task for each, as large as the largest of them. `pods` isn't empty.
 * `claimed`: the most GPUs that resource claims of one pod ask for. Error (invalid) names the annotation: an unknown
 * one, or an invalid value.
 */
Result<AllocationRequest> build_job_request(const WorkloadRef& workload, const std::vector<const WorkloadPod*>& pods,
                                            const JobAnnotations& annotations, const IdentityRule& identity,
                                            const BridgeDevices& claimed = {});

}  // namespace slurmk8s
