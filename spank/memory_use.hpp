// SPDX-License-Identifier: GPL-2.0-or-later
// Memory use of a job in this pod.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** One process, from /proc/PID/status. */
struct MemoryProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  uid_t user = 0;   ///< real
  gid_t group = 0;  ///< real
  bool zombie = false;
  bool stopped = false;
  bool stepd = false;       ///< a slurmstepd
  std::uint32_t job = 0;    ///< a slurmstepd's; 0: not known yet
  std::uint64_t bytes = 0;  ///< RssAnon and RssShmem; shared pages counted in full
};

/** Parses the text of /proc/PID/status, and the title of a slurmstepd. Empty: invalid. Pure. */
std::optional<MemoryProcess> parse_memory_process(pid_t pid, std::string_view status, std::string_view title);

/**
 * Unreclaimable bytes in the text of /proc/PID/smaps_rollup, a page divided by the number of its users. Kernels before
 * 5.4 include pages of files. Empty: invalid. Pure.
 */
std::optional<std::uint64_t> parse_shares(std::string_view smaps_rollup);

/**
 * The processes in `proc`, a folder such as /proc. Skips processes that end meanwhile. Error: `proc` cannot be read.
 */
Result<std::vector<MemoryProcess>> read_memory(const std::string& proc);

/** The processes of a job: descendants of its slurmstepds, of which `self` is one; no slurmstepd, no zombie. Pure. */
std::vector<MemoryProcess> processes_of_job(const std::vector<MemoryProcess>& all, std::uint32_t job, pid_t self);

/** Memory use of several processes. */
struct MemoryUse {
  std::uint64_t bytes = 0;
  bool certain = true;  ///< false: shared pages may be counted more than once
};

/**
 * Memory use of these processes. Cheap while the sum, with shared pages counted in full, is within `limit`: it returns
 * that sum; and if one process alone exceeds `limit`: it returns the use of that process. Otherwise divides shared
 * pages by their users, and counts a process with unreadable pages in full. Reads as the process's user: changes the
 * calling thread's file system ids and restores them.
 */
MemoryUse memory_use(const std::string& proc, const std::vector<MemoryProcess>& processes, std::uint64_t limit);

}  // namespace slurmk8s
