// SPDX-License-Identifier: GPL-2.0-or-later
// Processes that outlive their job in a pod: proctrack/linuxproc misses processes whose parents have ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "prep_k8s/job_notes.hpp"

namespace slurmk8s {

/** One process of this pod. */
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;           ///< 0: from outside of the container (kubectl exec), or the first one
  uid_t user = 0;             ///< real
  std::uint64_t started = 0;  ///< in the kernel's ticks since boot
  bool stepd = false;         ///< a slurmstepd
  std::uint32_t job = 0;      ///< a slurmstepd's; 0: not known yet
  bool zombie = false;
};

/** Processes left of a job. */
struct Leftovers {
  std::vector<Process> kill;
  bool retry = false;  ///< a slurmstepd is ending, or its user is not known yet
};

/**
 * The processes to kill when `job` of `user` has ended here; `jobs` are the other jobs. None for root, and none while
 * the user has another job: one of `jobs`, or a slurmstepd that may be theirs. Not killed: processes that started
 * before slurmd (pid `slurmd`), descendants of a slurmstepd, and processes from outside of the container. Pure.
 */
Leftovers find_leftovers(const std::vector<Process>& all, pid_t slurmd, std::uint32_t job, uid_t user,
                         const JobUsers& jobs);

/**
 * The processes in `proc`, a folder such as /proc. Skips processes that end meanwhile. Errors: `proc` cannot be read.
 */
Result<std::vector<Process>> read_processes(const char* proc);

/** Kills each one unless its pid was reused. Returns how many. Does not wait for their end. */
unsigned kill_processes(const std::vector<Process>& processes);

/**
 * Kills what find_leftovers() finds in /proc until it finds nothing twice in a row: a process that is detaching itself
 * can be missed once. Blocks for 10 ms where nothing is left, for `limit` at most. Returns the number of kills. As root
 * in slurmd.
 */
unsigned kill_leftovers(std::uint32_t job, uid_t user, const JobUsers& jobs, std::chrono::milliseconds limit);

}  // namespace slurmk8s
