// SPDX-License-Identifier: GPL-2.0-or-later
// Hides paths, and checks whether they are readable.
#include "spank/secrets.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace slurmk8s {
namespace {

constexpr int kMaxEntries = 256;

Error system_error(const std::string& what) {
  return Error(Errc::unavailable, what + ": " + std::generic_category().message(errno));
}

Status hide(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return system_error(path + ": stat");
  }
  constexpr unsigned long kFlags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  const int failed = S_ISDIR(found.st_mode) ? ::mount("none", path.c_str(), "tmpfs", kFlags, "size=4k,mode=555")
                                            : ::mount("/dev/null", path.c_str(), nullptr, MS_BIND, nullptr);
  if (failed != 0) return system_error(path + ": mount");
  return {};
}

/** By the effective ids: slurmstepd changes no others before a task is there. */
bool is_readable_file(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), R_OK, AT_EACCESS) == 0;
}

}  // namespace

Result<bool> hide_paths(const std::vector<std::string>& paths) {
  if (::unshare(CLONE_NEWNS) != 0) {
    if (errno == EPERM || errno == ENOSYS) return false;
    return system_error("mount namespace");
  }
  // These mounts must not reach the other processes of the pod.
  if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return system_error("mount namespace: slave");
  for (const std::string& path : paths) SLURMK8S_CHECK(hide(path));
  return true;
}

std::optional<std::string> first_readable(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (is_readable_file(path)) return path;
    std::error_code ignored;
    std::filesystem::directory_iterator entry(path, ignored);
    for (int i = 0; i < kMaxEntries && entry != std::filesystem::directory_iterator(); ++i) {
      std::string file = entry->path().string();
      if (is_readable_file(file)) return file;
      entry.increment(ignored);
      if (ignored) break;
    }
  }
  return std::nullopt;
}

}  // namespace slurmk8s
