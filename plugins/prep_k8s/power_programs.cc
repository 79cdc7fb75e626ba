// SPDX-License-Identifier: GPL-2.0-or-later
// The same questions that slurmctld asks: executable, and writable by its owner alone.
#include "prep_k8s/power_programs.hpp"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slurmk8s {

std::string find_unusable(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    if (!program.starts_with('/')) continue;
    struct stat info{};
    if (::access(program.c_str(), X_OK) != 0 || ::stat(program.c_str(), &info) != 0) {
      return program + ": " + ::strerror(errno);
    }
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return program + ": its group or others may write it";
  }
  return {};
}

}  // namespace slurmk8s
