// SPDX-License-Identifier: GPL-2.0-or-later
// Holding launches back until the nodes are there.
#include "slurmctld/launches.hpp"

#include <algorithm>

#include "base/guarded.hpp"
#include "base/log.hpp"
#include "base/thread.hpp"

namespace slurmk8s {
namespace {

/** A launch is late by half of this on average. */
constexpr std::chrono::milliseconds kLookInterval{20};
/** Jobs of one look under Slurm's locks, some microseconds each: then others get the locks. */
constexpr std::size_t kJobsPerLook = 100;
/** With many jobs the looks come less often: they take a twentieth of the time at most. */
constexpr int kRest = 20;
constexpr std::chrono::milliseconds kLongestRest{1000};
/** Without a job, and without a power-save thread to wake, there is nothing to look at. */
constexpr std::chrono::milliseconds kLongestWait{60000};

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

std::size_t Launches::held() { return state_.lock()->jobs.size(); }

void Launches::look_once() {
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
  for (std::size_t first = 0; first < jobs.size(); first += kJobsPerLook) {
    const std::size_t end = std::min(first + kJobsPerLook, jobs.size());
    look_at({jobs.begin() + static_cast<std::ptrdiff_t>(first), jobs.begin() + static_cast<std::ptrdiff_t>(end)});
  }
  state_.lock()->looked_for = clock_.now() - begin;
  for (const std::uint32_t job : overdue) {
    if (state_.lock()->jobs.count(job) == 0) continue;
    log_error("job %u: its nodes were not there after %lld s: given up", job, static_cast<long long>(timeout_.count()));
    finish(job, false);
  }
}

void Launches::look_at(const std::vector<std::uint32_t>& jobs) {
  const std::vector<JobState> states = host_.look(jobs);
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

std::chrono::milliseconds Launches::next_look(const State& state) const {
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(state.looked_for * kRest);
  const auto longest = state.jobs.empty() ? kLongestWait : std::clamp(rest, kLookInterval, kLongestRest);
  return host_.wake_power_save ? std::min(longest, state.ticks.wait(clock_.wall())) : longest;
}

void Launches::run() {
  enter_thread("k8s-launches");
  for (;;) {
    {
      auto state = state_.lock();
      changed_.wait_for(state.raw(), next_look(*state), [&] { return state->stop || state->fresh || state->woken; });
      if (state->stop) return;
    }
    guarded_void("launches", [this] { look_once(); });
  }
}

}  // namespace slurmk8s
