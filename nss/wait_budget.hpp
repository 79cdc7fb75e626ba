// SPDX-License-Identifier: GPL-2.0-or-later
// WaitBudget: how long all lookups together may wait. Pure; its owner's lock.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace slurmk8s {

/**
 * Holds at most kMax, and refills with a tenth of the elapsed time. slurmctld looks names up under its locks: however
 * many names and however slow the answers, it waits for at most kMax at once, and a tenth of the time in the long run.
 */
class WaitBudget {
 public:
  using Duration = std::chrono::microseconds;
  static constexpr Duration kMax = std::chrono::milliseconds(400);        ///< for all lookups together
  static constexpr Duration kMaxForOne = std::chrono::milliseconds(200);  ///< for one lookup
  static constexpr int kRefill = 10;                                      ///< a tenth

  /** How long one lookup may wait; subtracts it from the budget. */
  Duration take(TimePoint now) {
    refill(now);
    const Duration taken = std::min(left_, kMaxForOne);
    left_ -= taken;
    return taken;
  }

  /** Returns the unused time of a lookup. */
  void give_back(Duration unused) { left_ = std::clamp(left_ + unused, Duration(0), kMax); }

 private:
  void refill(TimePoint now) {
    const Duration passed = std::chrono::duration_cast<Duration>(now - last_);
    last_ = now;
    left_ = std::min(kMax, left_ + std::clamp(passed, Duration(0), kRefill * kMax) / kRefill);
  }

  Duration left_ = kMax;
  TimePoint last_{};
};

}  // namespace slurmk8s
