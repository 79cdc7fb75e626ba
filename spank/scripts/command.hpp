// SPDX-License-Identifier: GPL-2.0-or-later
// Running a program with a time limit, and what to say when it fails.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Runs `argv` (argv[0] is a path) with `environment` ("NAME=value") and nothing else: no input, no descriptor of ours,
 * a process group of its own, which is killed when `limit` is over. Blocks until then; a child that the program leaves
 * behind is not waited for. Error: "exit code 3: LAST LINE", where the last line that it wrote is cut at 160
 * characters. Any thread; safe in a process with threads.
 */
Status run_command(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                   std::chrono::milliseconds limit);

/**
 * Whether root may run `path`: a regular file, executable, that nobody but root (or the caller) owns or can write.
 * Errors name it: not_found, invalid.
 */
Status check_script(const std::string& path);

}  // namespace slurmk8s
