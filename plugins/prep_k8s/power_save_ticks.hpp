// SPDX-License-Identifier: GPL-2.0-or-later
// PowerSaveTicks: when slurmctld's power-save thread is to be woken. Pure; one thread.
//
// That thread looks for nodes to resume once a second, and at once when it is woken; but never twice in the same second
// of the clock (src/slurmctld/power_save.c, _power_save_thread: now > last_power_scan). Two things follow:
//  - a wake-up in a second in which it has looked already is lost: another one comes when the next second begins;
//  - its own tick is moved to the end of a second, so that a look is still to be had in nearly all of the next one:
//    a wake-up restarts the second for which it sleeps. slurmctld schedules batch jobs when a second begins. The tick is
//    put there every second, since each resume and suspend that the thread starts makes it some 10 ms later.
// Before the first job nothing is woken: slurmctld may not have read its configuration yet.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace slurmk8s {

class PowerSaveTicks {
 public:
  using Wall = std::chrono::system_clock::time_point;

  /** Where in a second the thread's own tick is put. */
  static constexpr std::chrono::milliseconds kPhase{950};
  /** time(2), which slurmctld asks, is late by up to a tick of the kernel, 10 ms: no earlier in a second than this. */
  static constexpr std::chrono::milliseconds kIntoSecond{12};

  /** True when the thread is to be woken now. `asked`: a job has just begun to wait for nodes. */
  bool due(Wall now, bool asked) {
    if (asked) {
      first_ = std::max(now, second(now) + kIntoSecond);
      again_ = second(now) + std::chrono::seconds(1) + kIntoSecond;
      if (!phase_) phase_ = second(now) + kPhase;
    }
    const bool first = take(first_, now);
    const bool again = take(again_, now);
    const bool phase = take(phase_, now);
    if (phase) phase_ = second(now) + std::chrono::seconds(1) + kPhase;
    return first || again || phase;
  }

  /** How long until due() may be true without a question. */
  std::chrono::milliseconds wait(Wall now) const {
    std::chrono::milliseconds shortest = std::chrono::seconds(1);
    for (const std::optional<Wall>& time : {first_, again_, phase_}) {
      if (time) shortest = std::min(shortest, std::chrono::ceil<std::chrono::milliseconds>(*time - now));
    }
    return std::max(shortest, std::chrono::milliseconds(1));
  }

 private:
  static Wall second(Wall time) { return std::chrono::floor<std::chrono::seconds>(time); }
  /** True when `time` has come, or lies so far ahead that the clock must have been set back. */
  static bool take(std::optional<Wall>& time, Wall now) {
    if (!time || (now < *time && *time < now + std::chrono::seconds(3))) return false;
    time.reset();
    return true;
  }

  std::optional<Wall> first_;
  std::optional<Wall> again_;
  std::optional<Wall> phase_;
};

}  // namespace slurmk8s
