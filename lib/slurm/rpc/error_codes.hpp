// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's error codes as ours. Pure; any thread.
#pragma once

#include "base/error.hpp"

namespace slurmk8s {

/** `code`: what libslurm leaves in errno, one of Slurm's (slurm_errno.h) or of the system's. */
Errc errc_of(int code);

/**
 * Of a job that was to be submitted: invalid or forbidden when slurmctld has refused it, else unavailable: slurmctld
 * may have the job, or would take it later.
 */
Errc errc_of_submission(int code);

}  // namespace slurmk8s
