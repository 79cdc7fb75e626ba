// SPDX-License-Identifier: GPL-2.0-or-later
// Secrets of a pod that its jobs must not read: hidden by mounts where the kernel allows it, else checked.
//
// A mount namespace for a task needs CAP_SYS_ADMIN, which a pod has only on request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Gives the calling process a mount namespace in which each folder of `paths` is empty and each file is /dev/null;
 * skips missing paths. Call in a task's process, as root. False: the kernel does not permit it; nothing has changed.
 * Error: a mount failed; the task must not run.
 */
Result<bool> hide_paths(const std::vector<std::string>& paths);

/**
 * The first regular file that the calling process may read: one of `paths`, or directly in a folder of them (follows
 * symbolic links, checks at most 256 entries). Call as the job's user.
 */
std::optional<std::string> first_readable(const std::vector<std::string>& paths);

}  // namespace slurmk8s
