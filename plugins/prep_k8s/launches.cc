// SPDX-License-Identifier: GPL-2.0-or-later
// Holding launches back until the nodes are there.
#include "prep_k8s/launches.hpp"

#include <signal.h>

#include "base/guarded.hpp"
#include "base/log.hpp"

namespace slurmk8s {
namespace {

/** A launch is late by half of this on average; each look takes two read locks for microseconds. */
constexpr std::chrono::milliseconds kLookInterval{20};
/** Past the start of a second by this, so that slurmctld's clock, which has whole seconds, shows it. */
constexpr std::chrono::milliseconds kIntoSecond{2};

}  // namespace

Launches::Launches(Host host, const Clock& clock, std::chrono::seconds timeout)
    : host_(std::move(host)), clock_(clock), timeout_(timeout), thread_([this] {
        guarded_void("launch thread", [this] { run(); });
      }) {}

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

std::size_t Launches::held() { return state_.lock()->jobs.size(); }

// slurmctld's power-save thread passes a wake-up over in a second in which it has already worked: so there is another
// one at the start of the next second.
void Launches::wake_if_due() {
  if (!host_.wake_power_save) return;
  const TimePoint now = clock_.now();
  bool due = false;
  {
    auto state = state_.lock();
    due = state->fresh || (state->wake_again && now >= *state->wake_again);
    if (due) state->wake_again.reset();
    if (state->fresh) {
      const auto wall = clock_.wall();
      const auto rest = std::chrono::floor<std::chrono::seconds>(wall) + std::chrono::seconds(1) - wall;
      state->wake_again = now + std::chrono::duration_cast<std::chrono::milliseconds>(rest) + kIntoSecond;
      state->fresh = false;
    }
  }
  if (due) host_.wake_power_save();
}

void Launches::look_once() {
  wake_if_due();
  std::vector<std::uint32_t> jobs;
  std::vector<std::uint32_t> overdue;
  {
    const TimePoint now = clock_.now();
    auto state = state_.lock();
    for (const auto& [job, since] : state->jobs) {
      jobs.push_back(job);
      if (now - since.front() >= timeout_) overdue.push_back(job);
    }
  }
  if (jobs.empty()) return;
  const std::vector<JobState> states = host_.look(jobs);
  for (std::size_t i = 0; i < jobs.size() && i < states.size(); ++i) {
    if (states[i] != JobState::waiting) finish(jobs[i], true);
  }
  for (const std::uint32_t job : overdue) {
    if (state_.lock()->jobs.count(job) == 0) continue;
    log_error("job %u: its nodes were not there after %lld s: requeued", job,
              static_cast<long long>(timeout_.count()));
    finish(job, false);
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

void Launches::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    {
      auto state = state_.lock();
      changed_.wait(state.raw(), [&] { return state->stop || !state->jobs.empty(); });
      const bool wake = static_cast<bool>(host_.wake_power_save);
      changed_.wait_for(state.raw(), kLookInterval, [&] { return state->stop || (wake && state->fresh); });
      if (state->stop) return;
    }
    guarded_void("launches", [this] { look_once(); });
  }
}

}  // namespace slurmk8s
