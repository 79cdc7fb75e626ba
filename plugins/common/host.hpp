// SPDX-License-Identifier: GPL-2.0-or-later
// Host: which daemon has loaded a plugin, and the engine when that is slurmctld. Any thread.
#pragma once

#include "engine/engine_api.h"

#define SLURMK8S_EXPORT __attribute__((visibility("default")))

namespace slurmk8s {

/** Whether this process is slurmctld: it alone has the symbol slurmctld_config (also in Debian's stripped binaries). */
bool in_slurmctld();

/**
 * The engine's library, opened at run time: only slurmctld needs it, and all plugins in one slurmctld share it.
 * Not thread-safe: init() and fini() of a plugin.
 */
class EngineHandle {
 public:
  ~EngineHandle() { release(); }
  /** Opens and starts it; false, with the reason in the log, when it can't be had: resumes are then the programs'. */
  bool acquire(const slurm_k8s_host& host);
  void release();
  /** LaunchTimeout, seconds. */
  long launch_timeout() const;
  /** WakePowerSave. */
  bool wakes_power_save() const;

 private:
  void* library_ = nullptr;
};

}  // namespace slurmk8s
