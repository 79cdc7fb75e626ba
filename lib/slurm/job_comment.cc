// SPDX-License-Identifier: GPL-2.0-or-later
// Whether an AdminComment is ours: told by its form, since only slurmctld keeps it over a restart.
#include "slurm/job_comment.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "slurm/reasons.hpp"

namespace slurmk8s {
namespace {

constexpr std::string_view kFailed = "slurm-k8s: node ";
constexpr std::string_view kColon = ": ";
constexpr std::size_t kLongestHostlist = 65536;

/** Without blanks and colons: more isn't needed to tell it from words. */
bool is_hostlist(std::string_view text) {
  constexpr std::string_view kOthers = "-.[],_";
  return !text.empty() && text.size() <= kLongestHostlist && std::all_of(text.begin(), text.end(), [&](char c) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_word || kOthers.find(c) != std::string_view::npos;
  });
}

std::optional<JobComment> parse_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  const std::size_t end = text.find(kColon);
  if (end == std::string_view::npos || !is_hostlist(text.substr(0, end))) return std::nullopt;
  return JobComment{std::string(text.substr(0, end)), std::string(text.substr(end + kColon.size())),
                    prefix == kCommentWaiting};
}

/** `fits` says of a job whether `text` is to take its comment's place. */
template <typename Fits>
void rewrite(Slurm& slurm, const std::vector<std::uint32_t>& jobs, const std::string& text, Fits fits) {
  for (std::size_t i = 0; i < jobs.size() && i < kMaxComments; ++i) {
    const Result<SlurmJob> job = slurm.load_job(jobs[i]);
    if (!job || !fits(*job)) continue;
    const Status status = slurm.comment_job(jobs[i], text);
    if (!status.ok()) log_debug("job %u: admin comment: %s", jobs[i], status.error().message().c_str());
  }
}

}  // namespace

std::string build_job_comment(const JobComment& comment) {
  return std::string(comment.waiting ? kCommentWaiting : kFailed) + comment.nodes + std::string(kColon) + comment.cause;
}

std::optional<JobComment> parse_job_comment(std::string_view text) {
  if (auto waiting = parse_after(text, kCommentWaiting)) return waiting;
  return parse_after(text, kFailed);
}

bool may_replace(std::string_view present, std::string_view text) {
  if (present.empty()) return !text.empty();
  const auto before = parse_job_comment(present);
  if (!before || present == text) return false;
  const auto after = parse_job_comment(text);
  return !after || after->waiting || before->waiting || before->cause != after->cause;
}

bool is_over(std::string_view present, const std::vector<std::string>& causes) {
  const auto comment = parse_job_comment(present);
  return comment && comment->waiting && std::find(causes.begin(), causes.end(), comment->cause) != causes.end();
}

void comment_jobs(Slurm& slurm, const std::vector<std::uint32_t>& jobs, const std::string& text) {
  // One that has ended meanwhile was not lost.
  rewrite(slurm, jobs, text, [&](const SlurmJob& job) { return !job.ended && may_replace(job.admin_comment, text); });
}

void take_comments_back(Slurm& slurm, const std::vector<std::uint32_t>& jobs, const std::string& text) {
  rewrite(slurm, jobs, "", [&](const SlurmJob& job) { return job.admin_comment == text; });
}

void clear_job_comments(Slurm& slurm, const std::vector<std::uint32_t>& jobs, const std::vector<std::string>& causes) {
  rewrite(slurm, jobs, "", [&](const SlurmJob& job) { return is_over(job.admin_comment, causes); });
}

}  // namespace slurmk8s
