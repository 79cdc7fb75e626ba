// SPDX-License-Identifier: GPL-2.0-or-later
// FakeClock: time that passes when the test says so. Any thread.
#pragma once

#include <atomic>

#include "base/clock.hpp"

namespace slurmk8s {

class FakeClock final : public Clock {
 public:
  TimePoint now() const override { return TimePoint(std::chrono::hours(1)) + passed_.load(); }
  /** Starts at 2026-01-01T00:00:00Z. */
  std::chrono::system_clock::time_point wall() const override {
    return std::chrono::system_clock::from_time_t(1767225600) +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(passed_.load() + set_.load());
  }
  void advance(std::chrono::nanoseconds time) { passed_ = passed_.load() + time; }
  /** Sets the time of day: so much ahead of what it would be. */
  void set_wall(std::chrono::nanoseconds ahead) { set_ = ahead; }

 private:
  std::atomic<std::chrono::nanoseconds> passed_{std::chrono::nanoseconds(0)};
  std::atomic<std::chrono::nanoseconds> set_{std::chrono::nanoseconds(0)};
};

}  // namespace slurmk8s
