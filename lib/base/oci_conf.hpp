// SPDX-License-Identifier: GPL-2.0-or-later
// Whether Slurm has job containers (--container): without oci.conf slurmstepd runs a job outside of its container, and
// says nothing (setup_container() in src/slurmd/slurmstepd/container.c).
#pragma once

#include <string_view>

namespace slurmk8s {

/** Whether the folder of slurm.conf, of which this is the path, has no oci.conf. False where that can't be told. */
bool lacks_oci_conf(std::string_view slurm_conf);

}  // namespace slurmk8s
