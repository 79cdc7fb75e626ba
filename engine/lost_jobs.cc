// SPDX-License-Identifier: GPL-2.0-or-later
// The verdict on an end of slurmd, carried to the jobs.
#include "engine/lost_jobs.hpp"

#include <algorithm>

#include "base/strings.hpp"
#include "slurm/job_comment.hpp"

namespace slurmk8s {
namespace {

std::string held_for(const NodeFailure& failure, const SlurmdEndVerdict& verdict) {
  const std::string cause =
      format("job held: slurmd ended %u times while it ran: %s", verdict.ends, failure.cause.c_str());
  return build_job_comment({failure.node, cause});
}

}  // namespace

std::vector<LostRun> LostJobs::note(Slurm& slurm, NodeFailure& failure, TimePoint now, std::time_t wall) {
  if (!failure.served) return {};
  // A job that had ended, or was requeued, before slurmd's end is not to pay for it.
  const bool blames_jobs = failure.slurmd_end != SlurmdEnd::other;
  std::vector<LostRun> runs = runs_.on(slurm, failure.node, now, blames_jobs ? failure.seen : TimePoint{});
  const SlurmdEndVerdict verdict = ends_.note(runs, failure.slurmd_end, wall);
  std::erase_if(runs, [](const LostRun& run) { return run.completing; });  // slurmctld ends these
  for (LostRun& run : runs) {
    const bool is_told = std::find(failure.jobs.begin(), failure.jobs.end(), run.job) != failure.jobs.end();
    if (!is_told) failure.jobs.push_back(run.job);
    if (whole_job(run) != verdict.job) continue;
    if (verdict.kind == SlurmdEndVerdict::Kind::hold) run.held_for = held_for(failure, verdict);
  }
  if (verdict.kind == SlurmdEndVerdict::Kind::out_of_memory) failure.out_of_memory = verdict.job;
  if (!fast_requeue_) std::erase_if(runs, [](const LostRun& run) { return run.held_for.empty(); });
  return runs;
}

}  // namespace slurmk8s
