// SPDX-License-Identifier: GPL-2.0-or-later
// PowerUpHealth: how the power-ups of one NodeSet went lately, and for how long a failed node backs off. Pure.
#pragma once

#include <chrono>

#include "base/clock.hpp"

namespace slurmk8s {

class PowerUpHealth {
 public:
  static constexpr std::chrono::seconds kFirstBackOff{10};
  static constexpr std::chrono::seconds kMaxBackOff{600};
  static constexpr unsigned kFailuresToProtect = 3;
  /** Failures within this belong together: the eight pods of one job that can't start are one event. */
  static constexpr std::chrono::seconds kOneEvent{5};

  /** A node could not come up. Returns for how long it, or the whole NodeSet, backs off. */
  std::chrono::seconds failed(TimePoint now) {
    if (failures_ == 0 || now - last_failure_ > kOneEvent) ++failures_;
    last_failure_ = now;
    back_off_ = kFirstBackOff;
    for (unsigned i = 1; i < failures_ && back_off_ < kMaxBackOff; ++i) back_off_ *= 2;
    if (back_off_ > kMaxBackOff) back_off_ = kMaxBackOff;
    return back_off_;
  }
  /** A node that was resumed at `since` is up. */
  void succeeded(TimePoint since) {
    if (since > last_failure_) failures_ = 0;
  }
  bool is_failing() const { return failures_ > 0; }
  /** So often in a row that no node of the NodeSet is to be tried before the back-off is over. */
  bool is_protected() const { return failures_ >= kFailuresToProtect; }

 private:
  unsigned failures_ = 0;  // events in a row
  TimePoint last_failure_{};
  std::chrono::seconds back_off_{};
};

}  // namespace slurmk8s
