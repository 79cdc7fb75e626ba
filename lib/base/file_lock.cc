// SPDX-License-Identifier: GPL-2.0-or-later
// flock() on a file.
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "base/file.hpp"

namespace slurmk8s {

Result<UniqueFd> take_file_lock(const std::string& path) {
  UniqueFd locked(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!locked) return file_error(path, "open");
  while (::flock(locked.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return file_error(path, "lock");
  }
  return locked;
}

}  // namespace slurmk8s
