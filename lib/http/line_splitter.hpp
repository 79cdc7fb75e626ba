// SPDX-License-Identifier: GPL-2.0-or-later
// LineSplitter: bytes in any chunks in, whole lines out. Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s::http {

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}
  /**
   * Adds bytes and calls `line` for each line that they complete, without its newline; empty lines are skipped.
   * Error (protocol): a line longer than the cap; the splitter is then of no more use.
   */
  Status feed(std::string_view bytes, const std::function<void(std::string_view)>& line);
  /** True when bytes of an unfinished line are held. */
  bool partial() const { return !rest_.empty(); }

 private:
  std::size_t max_line_;
  std::string rest_;
};

}  // namespace slurmk8s::http
