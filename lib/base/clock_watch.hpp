// SPDX-License-Identifier: GPL-2.0-or-later
// ClockWatch: detects that the time of day was set back. Pure; one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.hpp"

namespace slurmk8s {

class ClockWatch {
 public:
  /**
   * How far the time of day was set back since the previous call; zero at the first call, and when it was set ahead or
   * not at all. While a host sleeps its monotonic clock stands still: that counts as set ahead.
   */
  std::chrono::seconds set_back(const Clock& clock) {
    const auto ahead = clock.wall().time_since_epoch() - clock.now().time_since_epoch();
    const auto lost = last_.value_or(ahead) - ahead;
    last_ = ahead;
    return std::max(std::chrono::round<std::chrono::seconds>(lost), std::chrono::seconds(0));
  }

 private:
  std::optional<std::chrono::nanoseconds> last_;  // time of day minus monotonic time
};

}  // namespace slurmk8s
