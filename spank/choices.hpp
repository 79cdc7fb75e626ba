// SPDX-License-Identifier: GPL-2.0-or-later
// Values of arguments in plugstack.conf; some are also those of users' options. Pure; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** Maximum of --k8s-threads: Slurm gives a task at most as many CPUs. */
inline constexpr unsigned kMaxThreads = 65535;

/** The value of OMP_NUM_THREADS. */
struct Threads {
  enum class Mode { off, automatic, fixed };
  Mode mode = Mode::off;
  unsigned count = 0;  ///< with Mode::fixed
};

/** "keep": true, "remove": false. Error (invalid): "must be …". */
Result<bool> parse_service_env(std::string_view text);

/** "off", "auto", or a number from 1 to kMaxThreads. Error (invalid): "must be …". */
Result<Threads> parse_threads(std::string_view text);

/** An absolute path without "..": root processes act on no other. Error (invalid). */
Result<std::string> parse_path(std::string_view text);

/**
 * Calls `take` with each `NAME=value` in turn, until one fails: not_found for an unknown name, else
 * with the message "must be …". Error (invalid): "NAME: unknown argument" or "NAME: invalid value "x": must be …".
 */
Status read_arguments(const std::vector<std::string_view>& arguments,
                      const std::function<Status(std::string_view name, std::string_view value)>& take);

}  // namespace slurmk8s
