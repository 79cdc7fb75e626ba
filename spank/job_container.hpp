// SPDX-License-Identifier: GPL-2.0-or-later
// A step that asks for a container (--container) where none is configured: slurmstepd would run it outside, and say
// nothing (setup_container() in src/slurmd/slurmstepd/container.c).
#pragma once

#include <string>
#include <string_view>

namespace slurmk8s {

/**
 * Whether the step asks for a container and the node has no oci.conf. `bundle`: SLURM_CONTAINER of the step, empty
 * without one. `slurm_conf`: path of slurm.conf, whose folder has oci.conf. False, too, where that can't be told.
 */
bool lacks_container(std::string_view bundle, std::string_view slurm_conf);

}  // namespace slurmk8s
