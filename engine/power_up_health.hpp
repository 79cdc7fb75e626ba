// SPDX-License-Identifier: GPL-2.0-or-later
// PowerUpHealth: how the power-ups of one NodeSet went lately, and for how long a failed node backs off. Pure.
#pragma once

#include <chrono>

#include "base/backoff.hpp"
#include "base/clock.hpp"

namespace slurmk8s {

class PowerUpHealth {
 public:
  static constexpr Backoff kBackOff{std::chrono::seconds(10), std::chrono::seconds(600)};
  static constexpr unsigned kFailuresToProtect = 3;
  /** Failures within this belong together: the eight pods of one job that can't start are one event. */
  static constexpr std::chrono::seconds kOneEvent{5};

  /** A node could not come up. Returns for how long it, or the whole NodeSet, backs off: `jitter` as in Backoff. */
  std::chrono::milliseconds failed(TimePoint now, double jitter) {
    if (failures_ == 0 || now - last_failure_ > kOneEvent) ++failures_;
    last_failure_ = now;
    return kBackOff.delay(failures_, jitter);
  }
  /** A node that was resumed at `since` is up. */
  void succeeded(TimePoint since) {
    if (since > last_failure_) failures_ = 0;
  }
  /** So often in a row that no node of the NodeSet is to be tried before the back-off is over. */
  bool is_protected() const { return failures_ >= kFailuresToProtect; }

 private:
  unsigned failures_ = 0;  // events in a row
  TimePoint last_failure_{};
};

}  // namespace slurmk8s
