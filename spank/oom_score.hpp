// SPDX-License-Identifier: GPL-2.0-or-later
// A process's oom_score_adj: whom the kernel kills first when a pod's memory is used up.
#pragma once

#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Writes `value` to `file` (/proc/PID/oom_score_adj) unless it is as high already: raising needs no capability,
 * lowering would. Blocks no longer than the kernel does. Errors name the file.
 */
Status raise_oom_score(const std::string& file, int value);

}  // namespace slurmk8s
