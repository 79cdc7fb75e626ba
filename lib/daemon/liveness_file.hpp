// SPDX-License-Identifier: GPL-2.0-or-later
// LivenessFile: shows the kubelet that the main loop runs, without a port on which jobs could take all connections.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace slurmk8s {

/** Holds the monotonic time of the last beat as text, in seconds. One thread. */
class LivenessFile {
 public:
  /** A loop that hasn't made a round for this long isn't alive. */
  static constexpr std::chrono::seconds kStuck{60};

  /**
   * Makes the file (mode 0600), or takes over the one of a former process. Error: unavailable, with the path and why.
   */
  static Result<LivenessFile> open(const std::string& path, const Clock& clock);

  /** The loop has made a round. Writes at most once a second; an error is logged, and shows in check(). */
  void beat();

  /**
   * Whether the process that writes `path` is alive; `clock` is the same machine's. Error: no such file, no time in it,
   * or how long ago the last beat was.
   */
  static Status check(const std::string& path, const Clock& clock);

 private:
  LivenessFile(std::string path, UniqueFd fd, const Clock& clock)
      : path_(std::move(path)), fd_(std::move(fd)), clock_(&clock) {}

  std::string path_;
  UniqueFd fd_;
  const Clock* clock_;
  std::int64_t written_ = -1;
};

}  // namespace slurmk8s
