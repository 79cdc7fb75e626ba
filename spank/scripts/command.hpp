// SPDX-License-Identifier: GPL-2.0-or-later
// Runs a program with a time limit.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Runs `argv` (argv[0] is a path) with `environment` ("NAME=value") and nothing else: no input, no inherited
 * descriptor, its own process group, which is killed after `limit`. Blocks until then; does not wait for children that
 * the program leaves behind. Error: "exit code 3: LAST LINE", with the last line of its output, cut at 160 characters.
 * Any thread; safe in a process with threads.
 */
Status run_command(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                   std::chrono::milliseconds limit);

/**
 * Whether root may run `path`: a regular, executable file that only root (or the caller) owns and can write.
 * Errors name it: not_found, invalid.
 */
Status check_script(const std::string& path);

}  // namespace slurmk8s
