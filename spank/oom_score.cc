// SPDX-License-Identifier: GPL-2.0-or-later
// Writes oom_score_adj.
#include "spank/oom_score.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file.hpp"
#include "base/strings.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {

Status raise_oom_score(const std::string& file, int value) {
  constexpr std::size_t kMaxBytes = 32;
  const std::string text = SLURMK8S_TRY(read_file(file, kMaxBytes));
  const auto now = parse_int(trim(text));
  if (!now) return Error(Errc::invalid, file + ": not a number");
  if (*now >= value) return {};
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string number = std::to_string(value);
  if (!fd || ::write(fd.get(), number.data(), number.size()) != static_cast<ssize_t>(number.size())) {
    return Error(Errc::unavailable, file + ": write: " + std::generic_category().message(errno));
  }
  return {};
}

}  // namespace slurmk8s
