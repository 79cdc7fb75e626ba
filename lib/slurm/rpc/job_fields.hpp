// SPDX-License-Identifier: GPL-2.0-or-later
// A job (slurm/records.hpp) out of libslurm's struct, and what its state means to us. Pure; any thread.
#pragma once

#include "slurm/records.hpp"
#include "slurm/rpc/compat.hpp"

namespace slurmk8s {

SlurmJob decode_job(const job_info_t& info);
SlurmRun decode_run(const job_info_t& job);
SlurmJobNeeds decode_job_needs(const job_info_t& job);

/** Waits for nodes or its turn. Other reasons, a limit or a dependency for example, no node would take away. */
bool waits_for_nodes(const job_info_t& job);
bool is_suspended(const job_info_t& job);
/** It runs or is being configured or suspended, or its end isn't done. */
bool holds_nodes(const job_info_t& job);
/** It runs, is being configured or suspended, and its end hasn't begun. */
bool runs(const job_info_t& job);
/** Pending, running or suspended. */
bool is_unended(const job_info_t& job);
/** A pending job's time to begin: slurmctld sends it as eligible_time, and sets it when the job becomes eligible. */
std::time_t begin_time(const job_info_t& job);

}  // namespace slurmk8s
