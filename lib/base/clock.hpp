// SPDX-License-Identifier: GPL-2.0-or-later
// Clock: the time as an interface, so that tests can set it.
#pragma once

#include <chrono>

namespace slurmk8s {

using TimePoint = std::chrono::steady_clock::time_point;

/** Monotonic time for decisions, wall-clock time only for output. Any thread. */
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
  virtual std::chrono::system_clock::time_point wall() const = 0;
};

/** The host's clocks. */
class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  std::chrono::system_clock::time_point wall() const override { return std::chrono::system_clock::now(); }
};

}  // namespace slurmk8s
