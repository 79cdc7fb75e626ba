// SPDX-License-Identifier: GPL-2.0-or-later
// Looks after the bridge's jobs.
#include "slurmctld/pod_jobs.hpp"

#include <algorithm>
#include <utility>

#include "base/guarded.hpp"
#include "base/thread.hpp"
#include "slurmctld/poll_pace.hpp"

namespace slurmk8s {
namespace {

/** A pod starts late by half of this on average. */
constexpr std::chrono::milliseconds kPollInterval{50};

/** Those that are not in `before`, or on other nodes there. */
std::set<std::uint32_t> find_new(const PodJobs::Nodes& nodes, const PodJobs::Nodes& before) {
  std::set<std::uint32_t> found;
  for (const auto& [job, where] : nodes) {
    const auto known = before.find(job);
    if (known == before.end() || known->second != where) found.insert(job);
  }
  return found;
}

}  // namespace

PodJobs::PodJobs(Host host, const Clock& clock, bool expected)
    : host_(std::move(host)), clock_(clock), expected_(expected) {
  state_.lock()->since = clock.now();
  thread_ = std::thread([this] { guarded_void("thread of pods' jobs", [this] { run(); }); });
}

void PodJobs::stop() {
  state_.lock()->stop = true;
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t PodJobs::set(Nodes jobs, bool report_all) {
  const auto before = this->nodes();
  std::set<std::uint32_t> soon = find_new(jobs, *before);
  auto nodes = std::make_shared<const Nodes>(std::move(jobs));
  std::uint64_t number = 0;
  {
    auto state = state_.lock();
    state->nodes = std::move(nodes);
    state->report_all |= report_all;
    state->soon.merge(soon);
    state->unknown = false;
    state->fresh = true;
    if (before->empty()) state->all_due = clock_.now();
    number = ++state->number;
  }
  changed_.notify_one();
  return number;
}

void PodJobs::forget() {
  auto state = state_.lock();
  state->nodes = std::make_shared<const Nodes>();
  state->unknown = true;
  state->since = clock_.now();
}

void PodJobs::look(std::uint32_t job) {
  {
    auto state = state_.lock();
    if (!state->nodes->contains(job)) return;
    state->soon.insert(job);
    state->fresh = true;
  }
  changed_.notify_one();
}

std::shared_ptr<const PodJobs::Nodes> PodJobs::nodes() { return state_.lock()->nodes; }

bool PodJobs::is_unknown() {
  auto state = state_.lock();
  return expected_ && state->unknown && clock_.now() - state->since < kPatience;
}

PodJobs::Poll PodJobs::begin_poll() {
  auto state = state_.lock();
  Poll poll;
  poll.nodes = state->nodes;
  poll.number = state->number;
  poll.report_all = std::exchange(state->report_all, false);
  poll.is_all = poll.report_all || clock_.now() >= state->all_due;
  poll.soon = std::exchange(state->soon, {});
  state->fresh = false;
  return poll;
}

void PodJobs::end_poll(const Poll& poll, TimePoint begin, bool is_answered) {
  const TimePoint now = clock_.now();
  auto state = state_.lock();
  if (poll.is_all) {
    state->all_due = now + (state->nodes->empty() ? kMaxPollPause : pause_after(now - begin, kPollInterval));
  }
  if (is_answered) return;
  state->report_all |= poll.report_all;
  state->soon.insert(poll.soon.begin(), poll.soon.end());
}

/** Nothing: slurmctld is ending. */
std::optional<PodJobs::Running> PodJobs::ask(const Poll& poll) {
  std::vector<std::uint32_t> jobs;
  for (const auto& [job, where] : *poll.nodes) {
    if (poll.is_all || poll.soon.contains(job)) jobs.push_back(job);
  }
  Running running;
  for (auto first = jobs.begin(); first != jobs.end();) {
    const auto end = first + std::min<std::ptrdiff_t>(kJobsPerPoll, jobs.end() - first);
    const std::vector<bool> answers = host_.poll({first, end});
    if (answers.size() != static_cast<std::size_t>(end - first)) return std::nullopt;
    for (const bool runs : answers) running[*first++] = runs;
  }
  return running;
}

PodJobs::Running PodJobs::find_changed(const Poll& poll, const Running& running) {
  Running changed;
  for (const auto& [job, runs] : running) {
    const auto before = known_.find(job);
    const bool is_known = !poll.report_all && !poll.soon.contains(job) && before != known_.end();
    if (!is_known || before->second != runs) changed[job] = runs;
  }
  return changed;
}

void PodJobs::poll_once() {
  const TimePoint begin = clock_.now();
  const Poll poll = begin_poll();
  std::optional<Running> running = ask(poll);
  end_poll(poll, begin, running.has_value());
  if (!running) return;
  const Running changed = find_changed(poll, *running);
  if (!poll.is_all) running->merge(known_);  // the new answers stay
  known_ = *std::move(running);
  if (changed.empty() && poll.number == reported_) return;
  reported_ = poll.number;
  host_.report(poll.number, changed);
}

void PodJobs::run() {
  enter_thread("k8s-pod-jobs");
  for (;;) {
    {
      auto state = state_.lock();
      const auto pause = state->all_due - clock_.now();
      changed_.wait_for(state.raw(), pause, [&] { return state->stop || state->fresh; });
      if (state->stop) return;
    }
    guarded_void("pods' jobs", [this] { poll_once(); });
  }
}

}  // namespace slurmk8s
