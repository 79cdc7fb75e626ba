// SPDX-License-Identifier: GPL-2.0-or-later
// power/k8s: PowerPlugin of slurmctld up to 23.11, for clusters whose PrEpPlugins can't have prep/k8s. slurmctld calls
// it when a job starts. When the last of the job's nodes has registered, it makes slurmctld check the jobs that are
// being configured, which slurmctld else does every 30 s (PERIODIC_TIMEOUT).
//
// With prep/k8s, which launches each job on its own, it does nothing.
#include <cstring>
#include <memory>
#include <utility>

#include "base/guarded.hpp"
#include "base/undestroyed.hpp"
#include "slurmctld/host.hpp"
#include "slurmctld/names.hpp"
#include "power_k8s/compat.hpp"
#include "slurmctld/held_jobs.hpp"

using namespace slurmk8s;

extern "C" {
SLURMK8S_EXPORT extern const char plugin_name[] = "power plugin that launches jobs when their pods are up";
SLURMK8S_EXPORT extern const char plugin_type[] = "power/k8s";
SLURMK8S_EXPORT extern const uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace {

Undestroyed<std::unique_ptr<HeldJobs>> held_jobs;  // in slurmctld only

bool prep_does_it() { return slurm_conf.prep_plugins && std::strstr(slurm_conf.prep_plugins, "k8s"); }

/** slurmctld's check of all jobs: launches those whose nodes have registered. */
void check_jobs() {
  lock_slurmctld(compat::time_limit_locks());
  job_time_limit();
  unlock_slurmctld(compat::time_limit_locks());
}

void start() {
  if (*held_jobs || !in_slurmctld() || prep_does_it()) return;
  serve_names();
  // One check serves all jobs that one poll has found.
  const auto due = std::make_shared<bool>(false);
  *held_jobs = std::make_unique<HeldJobs>(
      [due](uint32_t, bool) {
        if (std::exchange(*due, false)) check_jobs();
      },
      [due] { *due = true; });
}

}  // namespace

extern "C" {

SLURMK8S_EXPORT int init(void) {
  guarded_void("power/k8s init", [] { start(); });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT int fini(void) {
  guarded_void("power/k8s fini", [] {
    if (!is_reloaded()) held_jobs->reset();
  });
  return SLURM_SUCCESS;
}

SLURMK8S_EXPORT void power_p_reconfig(void) {}
SLURMK8S_EXPORT void power_p_job_resume(job_record_t*) {}

/** Under slurmctld's job and node write locks. */
SLURMK8S_EXPORT void power_p_job_start(job_record_t* job) {
  guarded_void("power_p_job_start", [&] {
    if (*held_jobs) (*held_jobs)->hold(job);
  });
}

}  // extern "C"
