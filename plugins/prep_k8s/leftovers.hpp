// SPDX-License-Identifier: GPL-2.0-or-later
// Processes that outlive their job in a pod: proctrack/linuxproc doesn't know one whose parents have gone.
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
  std::uint64_t started = 0;  ///< in the kernel's ticks since the machine's boot
  bool stepd = false;         ///< a slurmstepd
  std::uint32_t job = 0;      ///< a slurmstepd's; 0: it doesn't say yet
  bool zombie = false;
};

/** What is left of a job. */
struct Leftovers {
  std::vector<Process> kill;
  bool look_again = false;  ///< a slurmstepd is there that ends, or whose user isn't known yet
};

/**
 * What to kill when `job` of `user` has ended here; `jobs` are the others. Nothing for root, and nothing while the user
 * has another job: one of `jobs`, or a slurmstepd that may be theirs. Spared are processes that began before slurmd,
 * which has the pid `slurmd`, descendants of a slurmstepd, and those entered from outside of the container. Pure.
 */
Leftovers find_leftovers(const std::vector<Process>& all, pid_t slurmd, std::uint32_t job, uid_t user,
                         const JobUsers& jobs);

/** The processes in `proc`, a folder such as /proc. Those that end meanwhile are left out. Errors: it can't be read. */
Result<std::vector<Process>> read_processes(const char* proc);

/** Kills each that is still the process that was read. Returns how many. Doesn't wait for their end. */
unsigned kill_processes(const std::vector<Process>& processes);

/**
 * Kills what find_leftovers() finds in /proc until twice in a row there is nothing: a process that is about to detach
 * itself can be missed once. It takes 10 ms where nothing is left, `limit` at most. Returns how often it killed. As
 * root in slurmd; blocks as long.
 */
unsigned kill_leftovers(std::uint32_t job, uid_t user, const JobUsers& jobs, std::chrono::milliseconds limit);

}  // namespace slurmk8s
