// SPDX-License-Identifier: GPL-2.0-or-later
// Something that is done once in the life of a pod, whichever of its jobs comes first.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Calls `work` unless the file `marker` is there, and makes it when that went well: after a failure the next caller
 * tries again. Callers in other processes wait for each other (a lock on `marker`.lock), no longer than `limit`: then
 * an error (timeout). Blocks.
 */
Status once(const std::string& marker, std::chrono::milliseconds limit, const std::function<Status()>& work);

}  // namespace slurmk8s
