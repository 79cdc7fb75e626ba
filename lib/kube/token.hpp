// SPDX-License-Identifier: GPL-2.0-or-later
// Token: a bearer token in a file that kubelet rotates. One thread.
#pragma once

#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace slurmk8s::kube {

class Token {
 public:
  Token(std::string path, const Clock& clock) : path_(std::move(path)), clock_(clock) {}
  /**
   * The token, read again when more than a second has passed since the last read. A file that has become unreadable
   * or empty is an error (unauthorized, with the path and the reason), not the old token: it may have been revoked.
   */
  Result<std::string> read();
  /** The server didn't take it: the next read() reads the file, whatever the time. */
  void refused() { value_.clear(); }

 private:
  std::string path_;
  const Clock& clock_;
  TimePoint next_read_{};
  std::string value_;
};

}  // namespace slurmk8s::kube
