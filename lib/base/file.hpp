// SPDX-License-Identifier: GPL-2.0-or-later
// Reads whole files, with a size limit, and replaces them. Blocking; never under Slurm's locks.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * "PATH: WHAT: No such file or directory", of errno: not_found, forbidden (permission), invalid (a folder), unavailable
 * (any other).
 */
Error file_error(const std::string& path, const char* what);

/**
 * The content of `path`. Errors as of file_error(), and invalid of more than `max_bytes`. Works on pipes and
 * /proc files.
 */
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

/**
 * Replaces the content of `path` (mode 0600), atomically: writes PATH.new, syncs it, and renames it. Errors as of
 * read_file().
 */
Status replace_file(const std::string& path, std::string_view content);

/** The same with another mode and without the sync: for what is of no use after a crash. */
Status put_file(const std::string& path, std::string_view content, mode_t mode);

}  // namespace slurmk8s
