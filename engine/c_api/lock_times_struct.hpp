// SPDX-License-Identifier: GPL-2.0-or-later
// LockTimes in the C struct of engine_api.h, in which the engine gets them from the plugin. Pure; any thread.
#pragma once

#include <algorithm>

#include "control/lock_times.hpp"
#include "engine/c_api/engine_api.h"

namespace slurmk8s {

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
