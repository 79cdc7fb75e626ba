// SPDX-License-Identifier: GPL-2.0-or-later
// Names: slurmctld never blocks on a name (nss/control.h).
#pragma once

namespace slurmk8s {

/**
 * Adds libnss_slurm_k8s to the sources of host names of this slurmctld. Call it in init() of a plugin, after slurm.conf
 * has been read. Does not serve the names of slurm.conf: slurmctld keeps their addresses, so a wrong one would stay. A
 * second call does nothing. Errors are logged; slurmctld then looks names up as without it.
 */
void serve_names();

}  // namespace slurmk8s
