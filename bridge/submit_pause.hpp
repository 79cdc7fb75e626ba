// SPDX-License-Identifier: GPL-2.0-or-later
// SubmitPause: how long no job is submitted after slurmctld took none, such as at MaxJobCount. One thread.
#pragma once

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"

namespace slurmk8s {

class SubmitPause {
 public:
  static constexpr std::chrono::seconds kShortest{5};
  static constexpr std::chrono::seconds kLongest{60};

  bool is_over(TimePoint now) const { return now >= until_; }
  /** What slurmctld said. */
  const std::string& why() const { return why_; }

  /**
   * slurmctld took no job. When it has answered other calls since the last time (`answered`), it may refuse the next
   * job, too: this pause is twice as long as that one. Of submissions that were under way together the first counts.
   */
  void begin(TimePoint now, TimePoint answered, std::string why) {
    why_ = std::move(why);
    if (!is_over(now)) return;
    length_ = answered > began_ ? std::clamp(2 * length_, kShortest, kLongest) : kShortest;
    began_ = now;
    until_ = now + length_;
  }
  /** It took one. */
  void end() {
    until_ = {};
    length_ = {};
  }

 private:
  TimePoint began_{};
  TimePoint until_{};
  std::chrono::seconds length_{};
  std::string why_;
};

}  // namespace slurmk8s
