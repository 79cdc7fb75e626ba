// SPDX-License-Identifier: GPL-2.0-or-later
// A marker file and a lock.
#include "spank/scripts/once.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "base/unique_fd.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::milliseconds kPollInterval{20};

Error file_error(const std::string& path) {
  return Error(Errc::unavailable, path + ": " + std::generic_category().message(errno));
}

}  // namespace

Status once(const std::string& marker, std::chrono::milliseconds limit, const std::function<Status()>& work) {
  const std::string lock_path = marker + ".lock";
  const UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return file_error(lock_path);
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return file_error(lock_path);
    if (std::chrono::steady_clock::now() >= deadline)
      return Error(Errc::timeout, "pod set-up started by another job has not finished");
    std::this_thread::sleep_for(kPollInterval);
  }
  if (::access(marker.c_str(), F_OK) == 0) return {};
  SLURMK8S_CHECK(work());
  const UniqueFd made(::open(marker.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made) return file_error(marker);
  return {};
}

}  // namespace slurmk8s
