// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's error codes as ours. Pure; any thread.
#pragma once

#include "base/error.hpp"

namespace slurmk8s {

/** `code`: what libslurm leaves in errno, one of Slurm's (slurm_errno.h) or of the system's. */
Errc errc_of(int code);

}  // namespace slurmk8s
