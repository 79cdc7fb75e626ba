// SPDX-License-Identifier: GPL-2.0-or-later
// Values of arguments in plugstack.conf; some are also those of users' options. Pure; any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** Most threads that may be asked for: what a task of more CPUs needs, Slurm can't give. */
inline constexpr unsigned kMaxThreads = 65535;

/** What OMP_NUM_THREADS is to be. */
struct Threads {
  enum class Mode { off, automatic, fixed };
  Mode mode = Mode::off;
  unsigned count = 0;  ///< with Mode::fixed
};

/** "keep": true, "remove": false. Error (invalid): what was expected. */
Result<bool> parse_service_env(std::string_view text);

/** "off", "auto", or a number from 1 to kMaxThreads. Error (invalid): what was expected. */
Result<Threads> parse_threads(std::string_view text);

/** A path from the root without "..": the only kind that a root process acts on. Error (invalid). */
Result<std::string> parse_path(std::string_view text);

/** Calls `take` with each `NAME=value` in turn, until one is refused. The error quotes the whole argument. */
Status read_arguments(const std::vector<std::string_view>& arguments,
                      const std::function<Status(std::string_view name, std::string_view value)>& take);

}  // namespace slurmk8s
