// SPDX-License-Identifier: GPL-2.0-or-later
// LockTimes: how long each of our calls had Slurm's locks, or ran under locks that slurmctld held for it. The plugin
// counts; the engine asks it by the C struct of engine_api.h. Pure; any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/histogram.hpp"
#include "engine/c_api/engine_api.h"

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

static_assert(kLockedCalls.size() == SLURM_K8S_LOCKED_CALLS);
static_assert(kLockBounds.size() + 1 == SLURM_K8S_LOCK_BUCKETS);

/** The plugin's side of slurm_k8s_host.lock_times: 0; or -1, and nothing is written, when `to` is of another build. */
inline int export_lock_times(const LockTimes& from, slurm_k8s_lock_times* to) {
  if (to->size != sizeof *to) return -1;
  for (std::size_t call = 0; call < from.size(); ++call) {
    std::ranges::copy(from[call].counts(), to->calls[call].counts);
    to->calls[call].sum = from[call].sum();
  }
  return 0;
}

/** The engine's side of it: all 0 when the plugin is of another build. */
inline LockTimes import_lock_times(int (*ask)(slurm_k8s_lock_times* times)) {
  slurm_k8s_lock_times from{};
  from.size = sizeof from;
  LockTimes times;
  if (ask(&from) != 0) return times;
  for (std::size_t call = 0; call < times.size(); ++call) {
    times[call] = HistogramOf<kLockBounds>(std::to_array(from.calls[call].counts), from.calls[call].sum);
  }
  return times;
}

}  // namespace slurmk8s
