// SPDX-License-Identifier: GPL-2.0-or-later
// What a program must do before it uses make_rpc_slurm(); inside slurmctld it needs nothing.
#pragma once

namespace slurmk8s {

/**
 * Reads slurm.conf and loads the plugins that a client of slurmctld needs. Once, in a program's first thread, and never
 * inside slurmctld. libslurm ends the process, with a message, when slurm.conf or a plugin can't be read.
 */
void start_slurm_client();

}  // namespace slurmk8s
