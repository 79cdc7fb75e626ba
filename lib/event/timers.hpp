// SPDX-License-Identifier: GPL-2.0-or-later
// Timers: functions called later on the thread that owns them. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"

namespace slurmk8s {

class Timers {
 public:
  using Id = std::uint64_t;

  explicit Timers(const Clock& clock) : clock_(clock) {}

  /** Calls `fn` once, `delay` from now at the earliest, from run_due(). Ids are never 0 and never used again. */
  Id after(std::chrono::milliseconds delay, std::function<void()> fn);
  /** Cancels a timer; no-op for unknown and fired ids. */
  void cancel(Id id);
  /** Time until the next timer is due (0 when overdue); empty when there is none. Rounded up to milliseconds. */
  std::optional<std::chrono::milliseconds> until_next() const;
  /** Calls the due functions. A function may add and cancel timers; one added with delay 0 runs in the next call. */
  void run_due();

 private:
  const Clock& clock_;
  Id last_ = 0;
  std::map<std::pair<TimePoint, Id>, std::function<void()>> queue_;
  std::unordered_map<Id, TimePoint> due_;  // of each timer in queue_
};

}  // namespace slurmk8s
