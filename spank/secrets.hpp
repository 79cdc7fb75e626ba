// SPDX-License-Identifier: GPL-2.0-or-later
// Secrets of a pod that its jobs must not read: hidden by mounts where the kernel allows it, else looked at.
//
// A mount namespace of a task's own needs CAP_SYS_ADMIN, which a pod has only when it is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Gives the calling process a mount namespace in which each folder of `paths` is empty and each file is /dev/null;
 * paths that aren't there are skipped. Call in a task's own process, as root. False: the kernel doesn't permit it, and
 * nothing has changed. Error: it was permitted, but a mount went wrong; the task must not run then.
 */
Result<bool> hide_paths(const std::vector<std::string>& paths);

/**
 * The first regular file that the calling process may read: one of `paths`, or directly in a folder of them (symbolic
 * links followed, at most 256 entries looked at). Call as the user who is to be kept out.
 */
std::optional<std::string> first_readable(const std::vector<std::string>& paths);

}  // namespace slurmk8s
