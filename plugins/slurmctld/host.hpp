// SPDX-License-Identifier: GPL-2.0-or-later
// Host: the daemon that has loaded a plugin, and in slurmctld the engine. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/export.hpp"
#include "engine/c_api/engine_api.h"

namespace slurmk8s {

/**
 * Longest constraint, in bytes: Slurm's own limit for it. Slurm checks it only after it has read the text, and has
 * asked node_features/k8s about each feature in it.
 */
inline constexpr std::size_t kMaxConstraintText = 1024;

/** Whether a user's text is longer than kMaxConstraintText; null is not. Reads no further than that. */
bool is_too_long(const char* text);

/** Whether this process is slurmctld: it alone has the symbol slurmctld_config (also in Debian's stripped binaries). */
bool in_slurmctld();

/**
 * The engine's library, opened at run time: only slurmctld needs it, and all plugins in one slurmctld share it.
 * Not thread-safe: init() and fini() of a plugin.
 */
class EngineHandle {
 public:
  EngineHandle() = default;
  ~EngineHandle() { release(); }
  EngineHandle(const EngineHandle&) = delete;
  EngineHandle& operator=(const EngineHandle&) = delete;
  /** Opens and starts it. False, with the reason in the log, on failure: the programs do all the work then. */
  bool acquire(const slurm_k8s_host& host);
  void release();
  /** LaunchTimeout, seconds. */
  long launch_timeout() const;
  /** WakePowerSave. */
  bool wakes_power_save() const;
  /** Bridge. */
  bool has_bridge() const;
  /** See slurm_k8s_engine_report_pod_jobs(). Any thread, between acquire() and release(). */
  void report_pod_jobs(std::uint64_t number, const std::vector<slurm_k8s_pod_job_state>& states) const;

 private:
  void* library_ = nullptr;
};

/**
 * The variants that the engine's library knows, whether the engine runs or not. No variants before open(), or if it
 * fails. Any thread, also under Slurm's locks, except open() and close().
 */
class Variants {
 public:
  Variants() = default;
  ~Variants() { close(); }
  Variants(const Variants&) = delete;
  Variants& operator=(const Variants&) = delete;
  /** Once, in init() of a plugin in slurmctld. `folder`: StateSaveLocation. False: the library cannot be opened. */
  bool open(const char* folder);
  void close();

  bool has(const char* feature) const;
  struct Answer {
    bool refused = false;
    std::string settled;  ///< the constraint that replaces the job's; empty: unchanged
    std::string text;     ///< for the user: why it is refused, or which NodeSets there are
  };
  /** `applicant` null: any user; nothing is settled then. */
  Answer judge(const char* constraint, const slurm_k8s_applicant* applicant) const;
  /** `nodes` is a hostlist. No value: `nodes` is null, and the variant depends on them. */
  std::optional<std::string> choose(const char* constraint, const char* nodes) const;

 private:
  void* library_ = nullptr;
  decltype(&slurm_k8s_variants_has) has_ = nullptr;
  decltype(&slurm_k8s_variants_judge) judge_ = nullptr;
  decltype(&slurm_k8s_variants_choose) choose_ = nullptr;
};

}  // namespace slurmk8s
