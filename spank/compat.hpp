// SPDX-License-Identifier: GPL-2.0-or-later
// What differs between versions of Slurm in what slurmstepd is asked. Nothing else in this folder tests versions.
#pragma once

#include <cstdint>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>

namespace slurmk8s::compat {

/** Slurm's SIG_OOM (src/common/slurm_protocol_defs.h of 22.05 to 26.05): a job that returns it is OUT_OF_MEMORY. */
inline constexpr std::uint32_t kOutOfMemory = 253;

/** slurm_complete_job(). In 25.11 it takes a slurm_step_id_t, by which it could tell a job's runs apart. */
inline int complete_job(std::uint32_t job, std::uint32_t status) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
  slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;
  id.job_id = job;
  return slurm_complete_job(&id, status);
#else
  return slurm_complete_job(job, status);
#endif
}

}  // namespace slurmk8s::compat
