// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's configuration (slurm/records.hpp) out of libslurm's struct. Pure; any thread.
#pragma once

#include "slurm/records.hpp"
#include "slurm/rpc/compat.hpp"

namespace slurmk8s {

SlurmConfig decode_config(const slurm_conf_t& conf);

}  // namespace slurmk8s
