// SPDX-License-Identifier: GPL-2.0-or-later
// Heartbeat: whether this slurmctld, of several, is in control. Pure; one thread.
//
// The one in control writes the time of day into a file, every quarter of SlurmctldTimeout. That is a lease: no other
// one takes over before what it wrote last is SlurmctldTimeout old.
#pragma once

#include <chrono>
#include <ctime>
#include <optional>

#include "base/clock.hpp"

namespace slurmk8s {

class Heartbeat {
 public:
  /** What the file says; `written` is 0 when it can't be read now, since slurmctld is writing it. */
  struct Beat {
    std::time_t written = 0;
    int holder = -1;  ///< index of the slurmctld that wrote it
  };

  /**
   * Whether the slurmctld of index `self` is in control; an unreadable beat doesn't change that. To be asked again and
   * again: a beat that is new was written after the last one was read, whatever became of the time of day since. Only
   * the first one may be of a slurmctld that was here before, and is as old as it says.
   */
  bool is_held_by(int self, const Beat& beat, std::chrono::seconds timeout, const Clock& clock) {
    const TimePoint now = clock.now();
    if (beat.written != 0) {
      const bool is_new = beat.written != last_.written || beat.holder != last_.holder;
      const auto age = clock.wall() - std::chrono::system_clock::from_time_t(beat.written);
      if (is_new) since_ = read_ ? *read_ : now - std::chrono::duration_cast<std::chrono::nanoseconds>(age);
      last_ = beat;
      read_ = now;
    }
    return read_ && last_.holder == self && now - since_ <= timeout;
  }

 private:
  Beat last_;
  TimePoint since_{};  // it wasn't written before this
  std::optional<TimePoint> read_;
};

}  // namespace slurmk8s
