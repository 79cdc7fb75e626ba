// SPDX-License-Identifier: GPL-2.0-or-later
// OMP_NUM_THREADS from what Slurm gave a step. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "spank/choices.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/** What is known of a step on this node. */
struct StepFacts {
  bool batch = false;                        ///< the step that runs a batch script
  unsigned cpus = 0;                         ///< of the step
  unsigned tasks = 0;                        ///< on this node
  std::optional<std::string> cpus_per_task;  ///< SLURM_CPUS_PER_TASK
  std::optional<std::string> omp;            ///< OMP_NUM_THREADS
  std::optional<std::string> ours;           ///< SLURM_K8S_OMP_NUM_THREADS: what an outer step got from us
};

/**
 * The number that was asked for, or the step's CPUs divided by its tasks; for a batch script --cpus-per-task where it
 * was given, since the script's programs share the job's CPUs. A user's own OMP_NUM_THREADS stays unless `overrides`
 * (the user asked by option); one that a batch script has from us and hands on to srun is no user's own.
 */
EnvChanges thread_changes(const Threads& threads, bool overrides, const StepFacts& step);

}  // namespace slurmk8s
