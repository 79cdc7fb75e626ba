// SPDX-License-Identifier: GPL-2.0-or-later
// Files: read whole ones with a size cap. Blocking; never under Slurm's locks.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * The content of `path`. Errors name the path: not_found, forbidden (permission), invalid (a folder, or more than
 * `max_bytes`), unavailable (any other I/O error). Works on pipes and /proc files, whose size stat(2) doesn't know.
 */
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace slurmk8s
