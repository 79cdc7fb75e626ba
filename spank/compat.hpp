// SPDX-License-Identifier: GPL-2.0-or-later
// Differences between versions of Slurm in slurmstepd. Nothing else in this folder tests versions.
#pragma once

#include <cstdint>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>

#define SLURMK8S_WEAK __attribute__((weak))

extern "C" {
/**
 * In a slurmstepd: the address of a node of its job, from the job's credential; not SLURM_SUCCESS for another one
 * (src/common/read_config.h of 22.05 to 26.05). Weak: a program that lacks it loads the plugin all the same.
 */
int slurm_conf_get_addr(const char* node_name, slurm_addr_t* address, uint16_t flags) SLURMK8S_WEAK;
}

namespace slurmk8s::compat {

/** Slurm's SIG_OOM (src/common/slurm_protocol_defs.h of 22.05 to 26.05): the return code of an OUT_OF_MEMORY job. */
inline constexpr std::uint32_t kOutOfMemory = 253;

/** slurm_complete_job(). In 25.11 it takes a slurm_step_id_t. */
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
