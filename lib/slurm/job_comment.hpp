// SPDX-License-Identifier: GPL-2.0-or-later
// A job's AdminComment: it belongs to an administrator, or to another plugin, unless it has exactly the form of ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slurm/slurm.hpp"

namespace slurmk8s {

/** What the engine says about a job's nodes. */
struct JobComment {
  std::string nodes;  ///< hostlist
  std::string cause;
  bool waiting = false;  ///< they are powering up; otherwise they failed
  bool operator==(const JobComment&) const = default;
};

/** "slurm-k8s: waiting: c-[0-1]: pulling" or "slurm-k8s: node c-0: pod is gone". */
std::string build_job_comment(const JobComment& comment);
/** Empty for every text that build_job_comment() doesn't write. */
std::optional<JobComment> parse_job_comment(std::string_view text);

/**
 * Whether `text`, which is ours, is written over `present`: not when that isn't ours, or says the same already. Of
 * several nodes that fail for the same cause the first one is told.
 */
bool may_replace(std::string_view present, std::string_view text);
/** Whether `present` must be cleared: it says that nodes wait for one of `causes`. */
bool is_over(std::string_view present, const std::vector<std::string>& causes);

/** Each job takes a call of its own: enough for people who look, bounded for slurmctld. */
inline constexpr std::size_t kMaxComments = 64;

/** Each job is read once, and written once if there is something to change. Best effort: a job may have ended. */
void comment_jobs(Slurm& slurm, const std::vector<std::uint32_t>& jobs, const std::string& text);
/** Takes back what comment_jobs() said with `text`. */
void take_comments_back(Slurm& slurm, const std::vector<std::uint32_t>& jobs, const std::string& text);
/** Takes back what comment_jobs() said of nodes that wait for one of `causes`. */
void clear_job_comments(Slurm& slurm, const std::vector<std::uint32_t>& jobs, const std::vector<std::string>& causes);

}  // namespace slurmk8s
