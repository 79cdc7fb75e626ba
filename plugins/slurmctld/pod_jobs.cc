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
  auto nodes = std::make_shared<const Nodes>(std::move(jobs));
  std::uint64_t number = 0;
  {
    auto state = state_.lock();
    state->nodes = std::move(nodes);
    state->report_all |= report_all;
    state->unknown = false;
    state->fresh = true;
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

void PodJobs::look() {
  state_.lock()->fresh = true;
  changed_.notify_one();
}

std::shared_ptr<const PodJobs::Nodes> PodJobs::nodes() { return state_.lock()->nodes; }

bool PodJobs::is_unknown() {
  auto state = state_.lock();
  return expected_ && state->unknown && clock_.now() - state->since < kPatience;
}

PodJobs::Running PodJobs::ask(const Nodes& nodes) {
  std::vector<std::uint32_t> jobs;
  for (const auto& [job, where] : nodes) jobs.push_back(job);
  Running running;
  for (auto first = jobs.begin(); first != jobs.end();) {
    const auto end = first + std::min<std::ptrdiff_t>(kJobsPerPoll, jobs.end() - first);
    const std::vector<bool> answers = host_.poll({first, end});
    if (answers.size() != static_cast<std::size_t>(end - first)) return {};
    for (const bool runs : answers) running[*first++] = runs;
  }
  return running;
}

void PodJobs::poll_once() {
  std::shared_ptr<const Nodes> nodes;
  std::uint64_t number = 0;
  bool report_all = false;
  {
    auto state = state_.lock();
    nodes = state->nodes;
    number = state->number;
    report_all = std::exchange(state->report_all, false);
    state->fresh = false;
  }
  const TimePoint begin = clock_.now();
  Running running = ask(*nodes);
  state_.lock()->poll_time = clock_.now() - begin;
  if (running.size() != nodes->size()) {  // slurmctld is ending
    state_.lock()->report_all |= report_all;
    return;
  }
  if (report_all) known_.clear();
  Running changed;
  for (const auto& [job, runs] : running) {
    const auto before = known_.find(job);
    if (before == known_.end() || before->second != runs) changed[job] = runs;
  }
  known_ = std::move(running);
  if (changed.empty() && number == reported_) return;
  reported_ = number;
  host_.report(number, changed);
}

void PodJobs::run() {
  enter_thread("k8s-pod-jobs");
  for (;;) {
    {
      auto state = state_.lock();
      const auto pause = state->nodes->empty() ? kMaxPollPause : pause_after(state->poll_time, kPollInterval);
      changed_.wait_for(state.raw(), pause, [&] { return state->stop || state->fresh; });
      if (state->stop) return;
    }
    guarded_void("pods' jobs", [this] { poll_once(); });
  }
}

}  // namespace slurmk8s
