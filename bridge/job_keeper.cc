// SPDX-License-Identifier: GPL-2.0-or-later
// Calls to slurmctld about the bridge's jobs.
#include "bridge/job_keeper.hpp"

#include <algorithm>
#include <utility>

#include "base/strings.hpp"
#include "bridge/names.hpp"

namespace slurmk8s {
namespace {

Status end_job(Allocations& slurm, std::uint32_t job, std::time_t submitted, const JobResult& result) {
  // A slurmctld that was killed may have given its id to another job since we saw it.
  const auto found = slurm.load(job);
  if (!found) return found.error();
  if (!*found || (*found)->submitted != submitted) return {};
  constexpr std::uint32_t kExitCode = 256;  // of a status as wait() has it
  switch (result.kind) {
    case JobResult::Kind::completed: return slurm.complete(job, 0);
    case JobResult::Kind::failed: return slurm.complete(job, result.exit_code * kExitCode);
    case JobResult::Kind::out_of_memory: return slurm.end_out_of_memory(job);
    case JobResult::Kind::cancelled: break;
  }
  return slurm.cancel(job);
}

/** Slurm's word for the state of a job that ended so. */
const char* name_of(const JobResult& result) {
  switch (result.kind) {
    case JobResult::Kind::completed: return "COMPLETED";
    case JobResult::Kind::failed: return "FAILED";
    case JobResult::Kind::out_of_memory: return "OUT_OF_MEMORY";
    case JobResult::Kind::cancelled: break;
  }
  return "CANCELLED";
}

/** Lists may take one part of so many of the time. */
constexpr int kShare = 20, kNewShare = 4;

std::chrono::milliseconds share_pace(TimePoint::duration list_time, int share, std::chrono::milliseconds minimum) {
  return std::max(minimum, std::chrono::ceil<std::chrono::milliseconds>(list_time * share));
}

}  // namespace

std::chrono::milliseconds list_pace(TimePoint::duration list_time) {
  constexpr std::chrono::milliseconds kMinimum{3000}, kMaximum{30000};
  return std::min(kMaximum, share_pace(list_time, kShare, kMinimum));
}

std::chrono::milliseconds position_pace(TimePoint::duration list_time, bool is_new) {
  constexpr std::chrono::milliseconds kMinimum{1000};
  return share_pace(list_time, is_new ? kNewShare : kShare, kMinimum);
}

JobKeeper::JobKeeper(AllocationCaller& caller, const Clock& clock, Changed changed, Wanted wanted)
    : caller_(caller), clock_(clock), changed_(std::move(changed)), wanted_(std::move(wanted)) {}

JobKeeper::~JobKeeper() { *alive_ = false; }

/** What follows is dropped when this object is no more: both are the owner's thread. */
void JobKeeper::call(AllocationCaller::Work work) {
  caller_.call([work = std::move(work), alive = alive_](Allocations& slurm) -> AllocationCaller::Then {
    return [then = work(slurm), alive] {
      if (*alive) then();
    };
  });
}

void JobKeeper::warn(const std::string& what, const Error& error) {
  unsigned suppressed = 0;
  if (limiter_.allow(clock_.now(), suppressed)) log_warning("slurmctld: %s: %s", what.c_str(), error.message().c_str());
}

void JobKeeper::submit(AllocationRequest request, OnSubmitted done) {
  call([this, asked = clock_.now(), request = std::move(request),
        done = std::move(done)](Allocations& slurm) -> AllocationCaller::Then {
    const Result<std::uint32_t> answer = slurm.submit(request);
    // At once, and not behind the calls that wait: slurmctld may have started it.
    auto job = answer ? slurm.load(*answer) : Result<std::optional<Allocation>>(std::nullopt);
    return [this, asked, done, answer, job = std::move(job)] {
      if (answer) answered_ = clock_.now();
      done(answer);
      if (answer) take(*answer, asked, job);
    };
  });
}

void JobKeeper::end(std::uint32_t job, std::time_t submitted, const JobResult& result, std::function<void()> failed) {
  if (!ending_jobs_.insert(job).second) return failed();
  call([this, job, submitted, result, failed = std::move(failed)](Allocations& slurm) -> AllocationCaller::Then {
    return [this, job, submitted, result, failed, status = end_job(slurm, job, submitted, result)] {
      ending_jobs_.erase(job);
      if (!status.ok()) {
        warn(format("job %u: end", job), status.error());
        failed();
        return load({job}, Since::now);
      }
      const auto found = known_.jobs.find(job);
      if (found == known_.jobs.end() || found->second.submitted != submitted) return load({job}, Since::now);
      found->second.state_name = name_of(result);
      note(found->second, Allocation::State::ended);  // which saves a call
    };
  });
}

void JobKeeper::load_list(bool is_whole, Since since_when) {
  if (loading_) {
    has_changed_ = has_changed_ || since_when == Since::now;
    return;
  }
  loading_ = true;
  const TimePoint asked = clock_.now();
  std::set<std::uint32_t> wanted = wanted_();
  const bool is_same = wanted == asked_for_;
  asked_for_ = wanted;
  // Without a change slurmctld sends nothing, also not what was of no interest before.
  call([this, asked, since = is_same && !is_whole ? since_ : 0,
        wanted = std::move(wanted)](Allocations& slurm) -> AllocationCaller::Then {
    std::time_t version = since;
    const auto began = std::chrono::steady_clock::now();  // the call may outlive what owns clock_
    auto answer = slurm.load_since(version, std::string(kCommentPrefix), wanted);
    return [this, asked, version, took = std::chrono::steady_clock::now() - began, answer = std::move(answer)] {
      if (answer) list_time_ = took;
      take(asked, version, answer);
    };
  });
}

void JobKeeper::load(const std::set<std::uint32_t>& jobs, Since since) {
  for (const std::uint32_t job : jobs) {
    const auto [entry, is_first] = loading_jobs_.try_emplace(job, false);
    if (!is_first) {
      entry->second = entry->second || since == Since::now;
      continue;
    }
    call([this, job, asked = clock_.now()](Allocations& slurm) -> AllocationCaller::Then {
      return [this, job, asked, answer = slurm.load(job)] {
        const bool has_changed = loading_jobs_.extract(job).mapped();
        take(job, asked, answer);
        if (has_changed) load({job}, Since::any);
      };
    });
  }
}

void JobKeeper::note_start(std::uint32_t job) {
  const auto found = known_.jobs.find(job);
  if (found == known_.jobs.end() || found->second.state != Allocation::State::configuring) return;
  if (found->second.nodes.empty()) return;
  note(found->second, Allocation::State::running);
}

void JobKeeper::note(Allocation& job, Allocation::State state) {
  job.state = state;
  noted_[job.id] = clock_.now();
  changed_(job.id);
}

/** An answer that was under way when the job's state was noted. */
bool JobKeeper::is_older(std::uint32_t job, TimePoint asked) const {
  const auto noted = noted_.find(job);
  return noted != noted_.end() && asked < noted->second;
}

void JobKeeper::take(std::uint32_t id, TimePoint asked, Result<std::optional<Allocation>> answer) {
  if (!answer) return warn(format("job %u", id), answer.error());
  answered_ = clock_.now();
  if (is_older(id, asked)) return;
  noted_.erase(id);
  if (*answer) {
    Allocation& job = known_.jobs[id];
    if ((*answer)->priority != 0) (*answer)->position = job.position;  // held: none
    job = **std::move(answer);
    changed_(id);
  } else {
    load(Since::any);
  }
}

void JobKeeper::take(TimePoint asked, std::time_t since, Result<std::optional<std::vector<Allocation>>> answer) {
  loading_ = false;
  if (std::exchange(has_changed_, false)) load(Since::any);
  if (!answer) {
    warn("jobs", answer.error());
    return;
  }
  answered_ = clock_.now();
  known_.asked = asked;
  since_ = since;
  if (*answer) {
    std::map<std::uint32_t, Allocation> before = std::exchange(known_.jobs, {});
    std::erase_if(noted_, [&](const auto& one) { return !is_older(one.first, asked) || !before.contains(one.first); });
    for (const auto& [id, since_when] : noted_) known_.jobs.insert(before.extract(id));
    for (Allocation& job : **answer) known_.jobs.emplace(job.id, std::move(job));
  }
  changed_({});
}

}  // namespace slurmk8s
