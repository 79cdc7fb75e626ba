// SPDX-License-Identifier: GPL-2.0-or-later
// How much memory a job uses in this pod. Slurm's jobacct_gather/linux can't tell in a pod: it needs CAP_SYS_PTRACE.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** One process, as /proc/PID/status tells it. */
struct MemoryProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  uid_t user = 0;   ///< real
  gid_t group = 0;  ///< real
  bool zombie = false;
  bool stopped = false;
  bool stepd = false;       ///< a slurmstepd
  std::uint32_t job = 0;    ///< a slurmstepd's; 0: it doesn't say yet
  std::uint64_t bytes = 0;  ///< what can't be dropped (RssAnon, RssShmem); pages shared with others counted in full
};

/** Reads the text of /proc/PID/status, and the title of a slurmstepd. Empty: no such file's text. Pure. */
std::optional<MemoryProcess> parse_memory_process(pid_t pid, std::string_view status, std::string_view title);

/**
 * Bytes in the text of /proc/PID/smaps_rollup that can't be dropped, a page divided by the number of its users. Where
 * the kernel doesn't tell what is of files (before 5.4), those count. Empty: no such file's text. Pure.
 */
std::optional<std::uint64_t> parse_shares(std::string_view smaps_rollup);

/** The processes in `proc`, a folder such as /proc. Those that end meanwhile are left out. Error: it can't be read. */
Result<std::vector<MemoryProcess>> read_memory(const std::string& proc);

/** A job's: what descends from its slurmstepds, of which `self` is one. No slurmstepd, no zombie. Pure. */
std::vector<MemoryProcess> processes_of_job(const std::vector<MemoryProcess>& all, std::uint32_t job, pid_t self);

/** What processes use together. */
struct MemoryUse {
  std::uint64_t bytes = 0;
  bool certain = true;  ///< false: a process may have been counted in full that shares its pages
};

/**
 * What these use. Cheap while their sum with shared pages counted in full is at most `limit`, and then that; and where
 * one alone uses more, and then what that one uses. Otherwise shared pages are divided among their users, and a process
 * whose pages can't be looked at counts in full. Reads as the process's user: changes the calling thread's file system
 * ids, and sets them back.
 */
MemoryUse memory_use(const std::string& proc, const std::vector<MemoryProcess>& processes, std::uint64_t limit);

}  // namespace slurmk8s
