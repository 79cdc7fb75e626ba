// SPDX-License-Identifier: GPL-2.0-or-later
// What power/k8s uses of slurmctld in addition to prep/k8s. Slurm up to 23.11: later ones have no such plugin.
//
// Source: src/common/power.c and src/slurmctld/{job_mgr.c,slurmctld.h} of Slurm 22.05.8.
#pragma once

#include "slurmctld/compat.hpp"

extern "C" {

/** Checks all jobs: launches those that are configured, ends those over their limit. */
void job_time_limit(void) SLURMK8S_WEAK;

}  // extern "C"

namespace slurmk8s::compat {

/** The locks for job_time_limit(), which may release and take them again. */
inline slurmctld_lock_t time_limit_locks() {
  slurmctld_lock_t levels{};
  levels.conf = READ_LOCK;
  levels.job = WRITE_LOCK;
  levels.node = WRITE_LOCK;
  levels.part = READ_LOCK;
  levels.fed = READ_LOCK;
  return levels;
}

}  // namespace slurmk8s::compat
