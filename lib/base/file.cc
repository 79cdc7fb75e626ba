// SPDX-License-Identifier: GPL-2.0-or-later
// Reads and replaces whole files.
#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {
namespace {

Status write_all(const UniqueFd& fd, const std::string& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd.get(), content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return file_error(path, "write");
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace

Error file_error(const std::string& path, const char* what) {
  const int number = errno;
  Errc code = Errc::unavailable;
  if (number == ENOENT || number == ENOTDIR) code = Errc::not_found;
  if (number == EACCES || number == EPERM) code = Errc::forbidden;
  if (number == EISDIR) code = Errc::invalid;
  return Error(code, path + ": " + what + ": " + std::generic_category().message(number));
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return file_error(path, "open");

  std::string content;
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got == 0) return content;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, "read");
    if (static_cast<std::size_t>(got) > max_bytes - content.size()) {
      return Error(Errc::invalid, path + format(": more than %zu bytes", max_bytes));
    }
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

Status replace_file(const std::string& path, std::string_view content) {
  const std::string fresh = path + ".new";
  {
    const UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600));
    if (!fd) return file_error(fresh, "open");
    SLURMK8S_CHECK(write_all(fd, fresh, content));
    if (::fsync(fd.get()) != 0) return file_error(fresh, "fsync");
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return file_error(path, "rename");
  return {};
}

Status put_file(const std::string& path, std::string_view content, mode_t mode) {
  const std::string fresh = path + ".new";
  ::unlink(fresh.c_str());
  {
    const UniqueFd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!fd || ::fchmod(fd.get(), mode) != 0) return file_error(fresh, "open");
    SLURMK8S_CHECK(write_all(fd, fresh, content));
  }
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return file_error(path, "rename");
  return {};
}

}  // namespace slurmk8s
