// SPDX-License-Identifier: GPL-2.0-or-later
#include "jobacct_gather_linux/task_user.hpp"

#include <sys/stat.h>

#include <string>

namespace slurmk8s {

std::optional<TaskUser> find_task_user(const std::vector<pid_t>& tasks) {
  for (const pid_t task : tasks) {
    struct stat status;
    if (stat(("/proc/" + std::to_string(task)).c_str(), &status) == 0 && status.st_uid != 0) {
      return TaskUser{status.st_uid, status.st_gid};
    }
  }
  return std::nullopt;
}

}  // namespace slurmk8s
