// SPDX-License-Identifier: GPL-2.0-or-later
// Heartbeat: whether this slurmctld, of several, is in control. Pure; one thread.
//
// The slurmctld in control writes the time of day into a file, every quarter of SlurmctldTimeout. That is a lease:
// no other slurmctld takes over before the last time written is SlurmctldTimeout old.
#pragma once

#include <chrono>
#include <ctime>
#include <optional>

#include "base/clock.hpp"

namespace slurmk8s {

class Heartbeat {
 public:
  /** The file's content; `written` is 0 while slurmctld is writing it. */
  struct Beat {
    std::time_t written = 0;
    int holder = -1;  ///< index of the slurmctld that wrote it
  };

  /**
   * Whether the slurmctld of index `self` is in control; an unreadable beat does not change that. Call it repeatedly: a
   * new beat was written after the previous one was read, whatever the time of day. Only the first beat may be of a
   * previous slurmctld; its age is taken from its time.
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

  /** Whether the last beat that could be read is another one's. Otherwise one that is late may only be silent. */
  bool is_held_by_other(int self) const { return read_ && last_.holder != self; }

 private:
  Beat last_;
  TimePoint since_{};  // not written before this
  std::optional<TimePoint> read_;
};

}  // namespace slurmk8s
