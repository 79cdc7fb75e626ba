// SPDX-License-Identifier: GPL-2.0-or-later
// OMP_NUM_THREADS from the CPUs of a step. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "spank/choices.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/** A step on this node. */
struct StepFacts {
  bool batch = false;                        ///< the step that runs a batch script
  unsigned cpus = 0;                         ///< of the step
  unsigned tasks = 0;                        ///< on this node
  std::optional<std::string> cpus_per_task;  ///< SLURM_CPUS_PER_TASK
  std::optional<std::string> omp;            ///< OMP_NUM_THREADS
  std::optional<std::string> ours;           ///< SLURM_K8S_OMP_NUM_THREADS: set here for an outer step
};

/**
 * The requested number, or the step's CPUs divided by its tasks; for a batch script --cpus-per-task if given, since the
 * script's programs share the job's CPUs. A user's own OMP_NUM_THREADS stays unless `overrides` (the user gave the
 * option); one that was set here for a batch script, and that it passes to srun, is not the user's own.
 */
EnvChanges thread_changes(const Threads& threads, bool overrides, const StepFacts& step);

}  // namespace slurmk8s
