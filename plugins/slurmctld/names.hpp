// SPDX-License-Identifier: GPL-2.0-or-later
// Names: slurmctld never waits for one. nss/control.h says how.
#pragma once

namespace slurmk8s {

/**
 * Puts libnss_slurm_k8s among the sources of names of this slurmctld: in init() of a plugin, when slurm.conf has been
 * read. The names of slurm.conf are left as they are: an address is kept for those, so a wrong one would stay. Does
 * nothing a second time. What goes wrong is in the log; slurmctld then waits for names as it does by itself.
 */
void serve_names();

}  // namespace slurmk8s
