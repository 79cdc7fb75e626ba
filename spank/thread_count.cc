// SPDX-License-Identifier: GPL-2.0-or-later
// How many threads a task should have.
#include "spank/thread_count.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kOmp = "OMP_NUM_THREADS";
/** Says which OMP_NUM_THREADS is ours: a batch script's environment reaches the steps that it starts. */
constexpr const char* kOurs = "SLURM_K8S_OMP_NUM_THREADS";

unsigned automatic_count(const StepFacts& step) {
  if (step.batch && step.cpus_per_task) {
    const auto given = parse_int(*step.cpus_per_task);
    if (given && *given > 0 && *given <= kMaxThreads) return static_cast<unsigned>(*given);
  }
  return std::max(1u, step.cpus / std::max(1u, step.tasks));
}

}  // namespace

EnvChanges thread_changes(const Threads& threads, bool overrides, const StepFacts& step) {
  const bool users_own = step.omp && step.omp != step.ours;
  if (users_own && (!overrides || threads.mode == Threads::Mode::off)) return {};
  if (threads.mode == Threads::Mode::off) {
    if (!step.ours) return {};
    return {{kOmp, std::nullopt}, {kOurs, std::nullopt}};
  }
  const unsigned count = threads.mode == Threads::Mode::fixed ? threads.count : automatic_count(step);
  return {{kOmp, std::to_string(count)}, {kOurs, std::to_string(count)}};
}

}  // namespace slurmk8s
