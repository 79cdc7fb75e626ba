// SPDX-License-Identifier: GPL-2.0-or-later
// oom_score_adj of a process: the kernel kills the highest first when a pod is out of memory.
#pragma once

#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Writes `value` to `file` (/proc/PID/oom_score_adj) unless it is as high already: lowering would need a capability.
 * Errors name the file.
 */
Status raise_oom_score(const std::string& file, int value);

}  // namespace slurmk8s
