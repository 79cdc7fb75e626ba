// SPDX-License-Identifier: GPL-2.0-or-later
// How often jobs are looked at under Slurm's locks, and how many at once. Pure; any thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/clock.hpp"

namespace slurmk8s {

/** Jobs looked at under Slurm's locks at once, some microseconds each; then the locks are released. */
inline constexpr std::size_t kJobsPerPoll = 100;
/** Without a job there is nothing to look at. */
inline constexpr std::chrono::milliseconds kMaxPollPause{60000};

/**
 * The pause after a look at all jobs that took `poll_time`: `interval`, and with many jobs longer, a second at most.
 * Looks take at most a twentieth of the time.
 */
inline std::chrono::milliseconds pause_after(TimePoint::duration poll_time, std::chrono::milliseconds interval) {
  constexpr int kRest = 20;
  constexpr std::chrono::milliseconds kMaxRest{1000};
  return std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(poll_time * kRest), interval, kMaxRest);
}

}  // namespace slurmk8s
