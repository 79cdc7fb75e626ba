// SPDX-License-Identifier: GPL-2.0-or-later
// Host: which daemon has loaded a plugin, and the engine when that is slurmctld. Any thread.
#pragma once

#include <string>

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

/**
 * The variants that the engine's library knows, whether the engine runs or not. Nothing is a variant before open(), and
 * when the library can't be had. Any thread, also under Slurm's locks, but for open() and close().
 */
class Variants {
 public:
  ~Variants() { close(); }
  /** Once, in init() of a plugin in slurmctld. `folder`: StateSaveLocation. False: the library can't be had. */
  bool open(const char* folder);
  void close();

  bool has(const char* feature) const;
  struct Answer {
    bool refused = false;
    std::string text;  ///< for the user; with a constraint that isn't refused, what there is instead, or empty
  };
  /** `applicant` null: whoever it is. */
  Answer check(const char* constraint, const slurm_k8s_applicant* applicant) const;
  /** The constraint that slurmctld is to have instead; empty: as it is. */
  std::string settle(const char* constraint) const;
  /** `nodes` null: not known. */
  std::string choose(const char* constraint, const char* nodes) const;

 private:
  void* library_ = nullptr;
  decltype(&slurm_k8s_variants_has) has_ = nullptr;
  decltype(&slurm_k8s_variants_check) check_ = nullptr;
  decltype(&slurm_k8s_variants_settle) settle_ = nullptr;
  decltype(&slurm_k8s_variants_choose) choose_ = nullptr;
};

}  // namespace slurmk8s
