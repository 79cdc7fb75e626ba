// SPDX-License-Identifier: GPL-2.0-or-later
// PowerPrograms: whether slurmctld would accept its power-saving programs now. No Slurm header.
//
// config_power_mgr() looks at them again. Between 23.11 and 25.11 one that can't be run at that moment (libexec on a
// file system that is away, a file that is being replaced) ends power saving until slurmctld is started again.
#pragma once

#include <string>
#include <vector>

namespace slurmk8s {

/**
 * Empty when slurmctld would accept all of `programs`, otherwise what is wrong with the first that it wouldn't. Names that
 * are no paths (PowerAction of 26.05) and empty ones are passed over. Asks the file system: never under Slurm's locks.
 */
std::string find_unusable(const std::vector<std::string>& programs);

}  // namespace slurmk8s
