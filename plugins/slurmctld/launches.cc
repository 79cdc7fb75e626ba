// SPDX-License-Identifier: GPL-2.0-or-later
// Delays launches until the nodes have registered.
#include "slurmctld/launches.hpp"

#include <algorithm>

#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"
#include "slurmctld/poll_pace.hpp"

namespace slurmk8s {
namespace {

/** A launch is late by half of this on average. */
constexpr std::chrono::milliseconds kPollInterval{20};

}  // namespace

Launches::Launches(Host host, const Clock& clock, std::chrono::seconds timeout)
    : host_(std::move(host)),
      clock_(clock),
      timeout_(timeout),
      thread_([this] { guarded_void("launch thread", [this] { run(); }); }) {}

Launches::~Launches() {
  state_.lock()->stop = true;
  changed_.notify_all();
  thread_.join();
}

void Launches::hold(std::uint32_t job) {
  {
    auto state = state_.lock();
    state->jobs[job].push_back(clock_.now());
    state->fresh = true;
  }
  changed_.notify_one();
}

void Launches::wake_power_save() {
  state_.lock()->woken = true;
  changed_.notify_one();
}

void Launches::forget() { state_.lock()->jobs.clear(); }

void Launches::poll_once() {
  std::vector<std::uint32_t> jobs;
  std::vector<std::uint32_t> overdue;
  Wake wake = Wake::none;
  {
    const TimePoint now = clock_.now();
    auto state = state_.lock();
    const Wake asked = state->woken ? Wake::nodes : state->fresh ? Wake::jobs : Wake::none;
    if (host_.wake_power_save) wake = state->ticks.due(clock_.wall(), asked);
    state->fresh = state->woken = false;
    for (const auto& [job, since] : state->jobs) {
      jobs.push_back(job);
      if (now - since.front() >= timeout_) overdue.push_back(job);
    }
  }
  if (wake != Wake::none) host_.wake_power_save(wake);
  const TimePoint begin = clock_.now();
  for (std::size_t first = 0; first < jobs.size(); first += kJobsPerPoll) {
    const std::size_t end = std::min(first + kJobsPerPoll, jobs.size());
    poll_jobs({jobs.begin() + static_cast<std::ptrdiff_t>(first), jobs.begin() + static_cast<std::ptrdiff_t>(end)});
  }
  state_.lock()->poll_time = clock_.now() - begin;
  for (const std::uint32_t job : overdue) {
    if (!state_.lock()->jobs.contains(job)) continue;
    log_error(
        "job %u: not launched within LaunchTimeout (%lld s): its nodes have not registered, or pods of an ended job "
        "are on them",
        job, static_cast<long long>(timeout_.count()));
    finish(job, false);
  }
}

void Launches::poll_jobs(const std::vector<std::uint32_t>& jobs) {
  const std::vector<JobState> states = host_.poll(jobs);
  for (std::size_t i = 0; i < jobs.size() && i < states.size(); ++i) {
    if (states[i] != JobState::waiting) finish(jobs[i], true);
  }
}

void Launches::finish(std::uint32_t job, bool ok) {
  std::size_t prologs = 0;
  {
    auto state = state_.lock();
    const auto found = state->jobs.find(job);
    if (found == state->jobs.end()) return;
    prologs = found->second.size();
    state->jobs.erase(found);
  }
  for (std::size_t i = 0; i < prologs; ++i) host_.complete(job, ok);
}

std::chrono::milliseconds Launches::next_poll(const State& state) const {
  const auto longest = state.jobs.empty() ? kMaxPollPause : pause_after(state.poll_time, kPollInterval);
  return host_.wake_power_save ? std::min(longest, state.ticks.wait(clock_.wall())) : longest;
}

void Launches::run() {
  enter_thread("k8s-launches");
  for (;;) {
    {
      auto state = state_.lock();
      changed_.wait_for(state.raw(), next_poll(*state), [&] { return state->stop || state->fresh || state->woken; });
      if (state->stop) return;
    }
    guarded_void("launches", [this] { poll_once(); });
  }
}

}  // namespace slurmk8s
