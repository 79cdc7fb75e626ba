// SPDX-License-Identifier: GPL-2.0-or-later
// LockTimes: how long each of our calls had Slurm's locks, or ran under locks that slurmctld held for it. The plugin
// counts; the engine publishes them. Pure; any thread.
#pragma once

#include <array>
#include <cstddef>

#include "base/histogram.hpp"

namespace slurmk8s {

enum class LockedCall {
  hold_launch,       ///< prep_p_prolog_slurmctld: a job has its nodes (job and node write locks, slurmctld's)
  poll,              ///< are the nodes of held jobs there (job and node read locks)
  check_power_save,  ///< would it be of use to wake power saving (node read lock)
  wake_power_save,   ///< config_power_mgr() (node write lock, slurmctld's own code)
};
inline constexpr std::array<const char*, 4> kLockedCalls{"hold_launch", "poll", "check_power_save", "wake_power_save"};

inline constexpr std::array<double, 10> kLockBounds{0.000005, 0.00001, 0.000025, 0.00005, 0.0001,
                                                    0.00025,  0.0005,  0.001,    0.01,    0.1};

/** By LockedCall. */
using LockTimes = std::array<HistogramOf<kLockBounds>, kLockedCalls.size()>;

}  // namespace slurmk8s
