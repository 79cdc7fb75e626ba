// SPDX-License-Identifier: GPL-2.0-or-later
// A lock that processes of a pod share.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {

/**
 * Takes the lock until the descriptor is closed; creates the file (mode 0600). Blocks while another one has it. Errors
 * name the file.
 */
Result<UniqueFd> take_file_lock(const std::string& path);

}  // namespace slurmk8s
