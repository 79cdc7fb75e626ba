// SPDX-License-Identifier: GPL-2.0-or-later
// LivenessFile: a time in a file.
#include "daemon/liveness_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxSize = 64;

std::int64_t seconds_of(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::seconds>(clock.now().time_since_epoch()).count();
}

}  // namespace

Result<LivenessFile> LivenessFile::open(const std::string& path, const Clock& clock) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return Error(Errc::unavailable, path + ": " + strerror(errno));
  LivenessFile file(path, std::move(fd), clock);
  file.beat();
  return file;
}

void LivenessFile::beat() {
  const std::int64_t now = seconds_of(*clock_);
  if (now == written_) return;
  // Always the same length: a reader finds one time or the other.
  const std::string text = format("%020lld\n", static_cast<long long>(now));
  if (pwrite(fd_.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    written_ = now;
  } else {
    log_warning("%s: not written: %s", path_.c_str(), strerror(errno));
  }
}

Status LivenessFile::check(const std::string& path, const Clock& clock) {
  const std::string text = SLURMK8S_TRY(read_file(path, kMaxSize));
  const auto written = parse_int(trim(text));
  if (!written) return Error(Errc::invalid, path + ": no time in it");
  const std::int64_t silent = seconds_of(clock) - *written;
  // A time in the future was written before the machine restarted.
  if (silent >= 0 && silent < kStuck.count()) return {};
  return Error(Errc::unavailable, format("main loop: stuck for %lld s", static_cast<long long>(silent)));
}

}  // namespace slurmk8s
