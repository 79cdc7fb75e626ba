// SPDX-License-Identifier: GPL-2.0-or-later
// WaitBudget: for how long lookups may wait, all of them together. Pure; its owner's lock.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace slurmk8s {

/**
 * Holds at most kMax, and gets kRefill of the time that passes. slurmctld looks names up under its locks: however many
 * names it meets and however slow their answers are, it waits for kMax at once and for a tenth of the time in the long
 * run.
 */
class WaitBudget {
 public:
  using Duration = std::chrono::microseconds;
  static constexpr Duration kMax = std::chrono::milliseconds(400);        ///< for all lookups together
  static constexpr Duration kMaxForOne = std::chrono::milliseconds(200);  ///< for one lookup
  static constexpr int kRefill = 10;                                      ///< a tenth

  /** How long one lookup may wait; taken from the budget. */
  Duration take(TimePoint now) {
    refill(now);
    const Duration taken = std::min(left_, kMaxForOne);
    left_ -= taken;
    return taken;
  }

  /** Gives back what a lookup has not waited. */
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
