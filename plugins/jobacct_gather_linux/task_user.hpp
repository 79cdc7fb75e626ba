// SPDX-License-Identifier: GPL-2.0-or-later
// The user of a step's tasks.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace slurmk8s {

struct TaskUser {
  uid_t uid;
  gid_t gid;
  friend bool operator==(const TaskUser&, const TaskUser&) = default;
};

/**
 * The user that the first of these processes with another user than root has; none when all are root's, or have ended.
 * slurmstepd's child is root's until it becomes the user. Its files in /proc are root's until execve() (PR_SET_DUMPABLE
 * in prctl(2)): a read between the two fails, and the next poll reads again.
 */
std::optional<TaskUser> find_task_user(const std::vector<pid_t>& tasks);

}  // namespace slurmk8s
