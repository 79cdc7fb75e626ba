// SPDX-License-Identifier: GPL-2.0-or-later
// CPUs of a job in its pod by control groups (version 2). task/cgroup makes a job's groups and limits their memory; its
// ConstrainCores would number CPUs as the Kubernetes node does: all pods there would use the first ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spank/cpu_bind.hpp"

namespace slurmk8s {

/** What slurmd's entrypoint writes of a pod whose NodeSet has a confinement. */
struct PodConfinement {
  unsigned cpus = 0;      ///< of the node
  unsigned threads = 1;   ///< of a core
  bool own_cpus = false;  ///< the pod requests as many CPUs as its limit has: no other pod has the same
};

/** A job and one of its steps on this node, by their cores, counted from 0. */
struct JobCores {
  std::string job;   ///< "0-1,4"
  std::string step;  ///< "0"
};

/** A file of a control group, below the folder of all, and what to write into it. */
struct CgroupFile {
  std::string name;
  std::string text;
};

/** "cpus=2 threads=1 own=yes". Error (invalid): another text. Pure. */
Result<PodConfinement> parse_pod_confinement(std::string_view text);

/** The file; nothing when there is none: the NodeSet has no confinement. Error: it cannot be read, or is invalid. */
Result<std::optional<PodConfinement>> read_pod_confinement(const std::string& path);

/**
 * What to write into the groups of a job and of its step: the time of as many CPUs as each has, and, where the pod has
 * CPUs of its own and cores have one thread, which of `pod_cpus` these are: the n-th core of the node is the n-th of
 * them.
 * `own_group`: /proc/self/cgroup of the step's slurmstepd. Error (unavailable): it is in no group of a job. Error
 * (invalid): cores that the node does not have. Pure.
 */
Result<std::vector<CgroupFile>> plan_cgroups(const PodConfinement& pod, std::string_view own_group,
                                             const JobCores& cores, const CpuList& pod_cpus);

/** Writes them below `root`. Error (unavailable): the file and errno. */
Status write_cgroups(const std::string& root, const std::vector<CgroupFile>& files);

}  // namespace slurmk8s
