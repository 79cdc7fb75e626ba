// SPDX-License-Identifier: GPL-2.0-or-later
// Computes OMP_NUM_THREADS.
#include "spank/thread_count.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kOmp = "OMP_NUM_THREADS";
/** The OMP_NUM_THREADS that was set here: a batch script's environment reaches the steps that it starts. */
constexpr const char* kOurs = "SLURM_K8S_OMP_NUM_THREADS";

unsigned automatic_count(const StepFacts& step) {
  if (step.batch && step.cpus_per_task) {
    const auto value = parse_int(*step.cpus_per_task);
    if (value && *value > 0 && *value <= kMaxThreads) return static_cast<unsigned>(*value);
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
