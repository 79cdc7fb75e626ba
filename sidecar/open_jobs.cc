// SPDX-License-Identifier: GPL-2.0-or-later
// OpenJobs: slurmctld's list, and when to ask for it.
#include "sidecar/open_jobs.hpp"

#include "slurm/hostlist.hpp"

namespace slurmk8s {
namespace {

constexpr int kShareOfTime = 20;

}  // namespace

bool OpenJobs::refresh(SlurmReader& slurm, bool needed) {
  fresh_ = false;
  if (!needed) {
    since_ = 0;
    const bool had = !jobs_.empty();
    jobs_.clear();
    suspended_on_.clear();
    return had;
  }
  const TimePoint begin = clock_.now();
  if (begin < not_before_) return false;
  auto answer = slurm.load_open_jobs_since(since_);
  not_before_ = clock_.now() + kShareOfTime * (clock_.now() - begin);
  if (!answer) {
    since_ = 0;
    unsigned suppressed = 0;
    if (limiter_.allow(clock_.now(), suppressed)) {
      log_warning("slurmctld: jobs: %s (%u similar messages suppressed)", answer.error().message().c_str(), suppressed);
    }
    return false;
  }
  fresh_ = true;
  if (!answer->has_value() || **answer == jobs_) return false;
  jobs_ = **std::move(answer);
  find_suspended();
  return true;
}

void OpenJobs::find_suspended() {
  suspended_on_.clear();
  for (const SlurmJob& job : jobs_) {
    if (!job.suspended) continue;
    if (const auto names = expand_hostlist(job.suspended_on)) suspended_on_.insert(names->begin(), names->end());
  }
}

}  // namespace slurmk8s
