// SPDX-License-Identifier: GPL-2.0-or-later
// Work that is done once in the life of a pod, for its first job.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Calls `work` unless the file `marker` exists, and creates the file on success: after a failure the next caller tries
 * again. Concurrent callers wait for each other (a lock on `marker`.lock), for `limit` at most. Error: timeout. Blocks.
 */
Status once(const std::string& marker, std::chrono::milliseconds limit, const std::function<Status()>& work);

}  // namespace slurmk8s
