// SPDX-License-Identifier: GPL-2.0-or-later
// SubmitPause: how long no job is submitted after slurmctld took none, such as at MaxJobCount. One thread.
#pragma once

#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace slurmk8s {

class SubmitPause {
 public:
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
    failures_ = answered > began_ ? failures_ + 1 : 1;
    began_ = now;
    until_ = now + kBackoff.delay(failures_, 1);
  }
  /** It took one. */
  void end() {
    until_ = {};
    failures_ = 0;
  }

 private:
  static constexpr Backoff kBackoff{std::chrono::seconds(5), std::chrono::seconds(60)};

  TimePoint began_{};
  TimePoint until_{};
  unsigned failures_ = 0;
  std::string why_;
};

}  // namespace slurmk8s
