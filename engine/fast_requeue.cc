// SPDX-License-Identifier: GPL-2.0-or-later
// Requeued jobs: when Slurm's delay protects nothing any more.
#include "engine/fast_requeue.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "slurm/job_comment.hpp"

namespace slurmk8s {
namespace {

/** The end of a job on a node that is up takes some tenths of a second. */
constexpr std::chrono::milliseconds kPollInterval{100};
/** It takes longer where tasks don't heed SIGTERM, and far longer where they can't be killed. */
constexpr unsigned kEagerPolls = 100;
constexpr std::chrono::milliseconds kLatePollInterval{1000};
/** Looks take a third of the time at most. */
constexpr int kRest = 2;

/** Slurm's own: the requeue and the delay, counted from the submit time that the requeue sets (or the second after). */
bool is_slurms_delay(const SlurmJob& job, std::chrono::seconds delay) {
  const std::time_t ahead = job.begin - job.submitted;
  return ahead == delay.count() + 1 || ahead == delay.count();
}

bool is_to_be_held(const LostRun& run) { return !run.held_for.empty(); }

/** Of one job: its nodes can be lost one after the other. */
bool is_same_run(const LostRun& one, const LostRun& other) {
  return one.restarts == other.restarts && one.submitted == other.submitted;
}

Status hold(Slurm& slurm, const LostRun& lost) {
  SLURMK8S_CHECK(slurm.hold_job(lost.job));
  comment_jobs(slurm, {lost.job}, lost.held_for);
  log_warning("job %u: held: %s", lost.job, lost.held_for.c_str());
  return {};
}

Status clear_delay(Slurm& slurm, const LostRun& lost) {
  SLURMK8S_CHECK(slurm.clear_begin_time(lost.job));
  log_info("job %u: lost a node and was requeued: it may begin now", lost.job);
  return {};
}

RequeueStep step_of(Slurm& slurm, const LostRun& lost, std::chrono::seconds delay, std::time_t now) {
  const Result<SlurmJob> job = slurm.load_job(lost.job);
  if (!job) return job.error().code() == Errc::not_found ? RequeueStep::leave : RequeueStep::wait;
  const RequeueStep step = judge_requeue(lost, *job, delay, now);
  if (step != RequeueStep::begin && step != RequeueStep::hold) return step;
  const Status status = step == RequeueStep::begin ? clear_delay(slurm, lost) : hold(slurm, lost);
  if (status.ok()) return step;
  log_debug("job %u: begin or hold: %s", lost.job, status.error().message().c_str());
  return RequeueStep::wait;
}

}  // namespace

RequeueStep judge_requeue(const LostRun& lost, const SlurmJob& job, std::chrono::seconds delay, std::time_t now) {
  if (!job.pending || job.restarts != lost.restarts + 1) return RequeueStep::leave;
  if (job.held || job.cron) return RequeueStep::leave;
  // slurmctld sets the submit time when the end is done everywhere, EpilogSlurmctld included: after each revoke.
  if (job.completing || job.submitted == lost.submitted) return RequeueStep::wait;
  if (is_to_be_held(lost)) return RequeueStep::hold;
  if (job.begin <= now || !is_slurms_delay(job, delay)) return RequeueStep::leave;
  // slurmd takes a credential that is newer than the revoke, in whole seconds.
  return now > job.submitted ? RequeueStep::begin : RequeueStep::wait;
}

FastRequeue::FastRequeue(SlurmCaller& slurm, Timers& timers, const Clock& clock, std::function<void()> began)
    : slurm_(slurm), timers_(timers), clock_(clock), began_(std::move(began)) {}

bool FastRequeue::has_room_for(const LostRun& run) const {
  return waiting_.size() < (is_to_be_held(run) ? kMaxWithHeld : kMaxJobs);
}

bool FastRequeue::keeps_delay(const LostRun& run, TimePoint now) const {
  const auto past = past_.find(run.job);
  const bool is_recent = past != past_.end() && now < past->second.last + kTimesWithin;
  if (is_to_be_held(run) || !is_recent || past->second.times < kMaxTimes) return false;
  log_info("job %u: has lost a node %zu times: it waits for Slurm's delay", run.job, past->second.times + 1);
  return true;
}

void FastRequeue::add(const std::vector<LostRun>& lost) {
  const TimePoint now = clock_.now();
  for (const LostRun& run : lost) {
    const auto known = waiting_.find(run.job);
    const bool is_known = known != waiting_.end() && is_same_run(known->second.lost, run);
    if (is_known && (!is_to_be_held(run) || is_to_be_held(known->second.lost))) continue;
    if (known != waiting_.end()) waiting_.erase(known);
    if (!has_room_for(run) || keeps_delay(run, now)) continue;
    waiting_.emplace(run.job, Waiting{run, now + (is_to_be_held(run) ? kHoldPatience : kPatience)});
    polls_ = 0;
  }
  if (waiting_.empty() || polling_) return;
  polling_ = true;
  timers_.after(kPollInterval, [this] { poll(); });
}

/** Some of those that wait, in turn. */
std::vector<LostRun> FastRequeue::next_jobs() {
  std::vector<LostRun> jobs;
  auto next = waiting_.upper_bound(last_);
  while (jobs.size() < std::min(kJobsPerPoll, waiting_.size())) {
    if (next == waiting_.end()) next = waiting_.begin();
    last_ = next->first;
    jobs.push_back(next->second.lost);
    ++next;
  }
  return jobs;
}

void FastRequeue::poll() {
  ++polls_;
  // What the call uses is its own: it may be under way when this is gone.
  const std::time_t now = std::chrono::system_clock::to_time_t(clock_.wall());
  slurm_.call([this, lost = next_jobs(), delay = delay_, now](Slurm& slurm) -> SlurmCaller::Then {
    const auto begun = std::chrono::steady_clock::now();
    Polled result;
    result.delay = delay;
    if (!delay) {
      const Result<SlurmConfig> config = slurm.load_config();
      if (config) result.delay = config->requeue_delay;
    }
    for (const LostRun& run : lost) {
      result.steps.push_back({run, result.delay ? step_of(slurm, run, *result.delay, now) : RequeueStep::wait});
    }
    result.took = std::chrono::steady_clock::now() - begun;
    return [this, result] { on_polled(result); };
  });
}

void FastRequeue::on_polled(const Polled& result) {
  polling_ = false;
  delay_ = result.delay;
  const TimePoint now = clock_.now();
  bool any_begins = false;
  for (const auto& [lost, step] : result.steps) {
    const auto waiting = waiting_.find(lost.job);
    if (waiting == waiting_.end() || !is_same_run(waiting->second.lost, lost)) continue;
    if (step == RequeueStep::wait && now < waiting->second.until) continue;
    if (step == RequeueStep::begin) note_begin(lost.job, now);
    any_begins = any_begins || step == RequeueStep::begin;
    waiting_.erase(waiting);
  }
  forget_past();
  if (any_begins) began_();
  if (waiting_.empty()) {
    delay_.reset();  // it may be another one by the next time
    return;
  }
  polling_ = true;
  timers_.after(next_poll(result.took), [this] { poll(); });
}

void FastRequeue::note_begin(std::uint32_t job, TimePoint now) {
  Past& past = past_[job];
  if (now >= past.last + kTimesWithin) past.times = 0;
  past = {past.times + 1, now};
}

std::chrono::milliseconds FastRequeue::next_poll(TimePoint::duration took) const {
  const auto rest = std::chrono::ceil<std::chrono::milliseconds>(kRest * took);
  return std::max(polls_ < kEagerPolls ? kPollInterval : kLatePollInterval, rest);
}

void FastRequeue::forget_past() {
  std::erase_if(past_, [this](const auto& entry) { return clock_.now() >= entry.second.last + kTimesWithin; });
}

}  // namespace slurmk8s
