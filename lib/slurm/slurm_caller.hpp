// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmCaller: the engine's way to slurmctld, whose calls may block for Slurm's MessageTimeout.
#pragma once

#include "slurm/port_caller.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

using SlurmCaller = PortCaller<Slurm>;

}  // namespace slurmk8s
