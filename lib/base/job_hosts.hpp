// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of /etc/hosts with the nodes of a job: the cluster's DNS learns of a pod after its job has begun. They end with
// "# slurm-k8s job 7"; all others are somebody else's. spank_k8s writes them, prep/k8s removes them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

struct Host {
  std::string name;
  std::string address;  ///< a number
};

/** A pod's own copy, made by the kubelet and bound to this name: it can be changed, not replaced. */
inline constexpr const char* kHostsFile = "/etc/hosts";
/** Root's: a user could lock /etc/hosts. */
inline constexpr const char* kHostsLock = "/run/slurm-k8s/hosts.lock";

/**
 * `text` with the job's hosts, and without other lines of the job. A name has one address, the job's: lines of other
 * jobs with another one are removed. Names in lines of somebody else are left to them. Pure.
 */
std::string with_job_hosts(std::string_view text, std::uint32_t job, const std::vector<Host>& hosts);

/** `text` without the job's lines. Pure. */
std::string without_job_hosts(std::string_view text, std::uint32_t job);

/**
 * Writes what `change` makes of the file, in place, unless that is the same; one process at a time. Who reads meanwhile
 * finds all lines before ours. Blocks while another one writes. Errors name the file.
 */
Status change_hosts(const std::string& path, const std::string& lock,
                    const std::function<std::string(std::string_view)>& change);

}  // namespace slurmk8s
