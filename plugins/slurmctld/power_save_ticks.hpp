// SPDX-License-Identifier: GPL-2.0-or-later
// PowerSaveTicks: when slurmctld's power-save thread is to be woken. Pure; one thread.
//
// That thread looks for nodes to resume once a second, and at once when it is woken; but never twice in the same second
// of the clock (src/slurmctld/power_save.c, _power_save_thread: now > last_power_scan). Two things follow:
//  - a wake-up in a second in which it has looked already is lost: another one comes when the next second begins;
//  - its own tick is moved to the end of a second, so that a look is still to be had in nearly all of the next one:
// a wake-up restarts the second for which it sleeps. slurmctld schedules batch jobs when a second begins. The tick is
//    put there after each wake-up for a job, and again every few seconds, since each resume and suspend that the thread
// starts makes it some 10 ms later. No more often: a wake-up takes Slurm's node write lock for a time that grows with
//    the nodes. And not for ever: after kMaxPhases without a question its tick is left where it is.
// Before it is first asked for nothing is woken: slurmctld may not have read its configuration yet. It has when a job
// gets nodes, and when it has answered the engine, which passes on what the sidecar asks for only then.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace slurmk8s {

/** What the power-save thread is woken for. */
enum class Wake {
  none,
  jobs,   ///< jobs have begun to wait: of no use when their nodes have been asked for by now
  nodes,  ///< nodes are to be powered up or down, whether a job waits for them or not
  phase,  ///< to move its own tick
};

class PowerSaveTicks {
 public:
  using Wall = std::chrono::system_clock::time_point;

  /** Where in a second the thread's own tick is put. */
  static constexpr std::chrono::milliseconds kPhase{950};
  /** How long its own tick is left alone. */
  static constexpr std::chrono::seconds kKeep{4};
  /** How often after a question its tick is put in its place, for ten minutes: the next one may cost a second then. */
  static constexpr int kMaxPhases = 150;
  /** How much earlier than that it may be. */
  static constexpr std::chrono::milliseconds kEarly{20};
  /** time(2), which slurmctld asks, is late by up to a tick of the kernel, 10 ms: no earlier in a second than this. */
  static constexpr std::chrono::milliseconds kIntoSecond{12};

  /** What the thread is to be woken for now. `asked`: what has just come up, none, jobs or nodes. */
  Wake due(Wall now, Wake asked) {
    if (asked != Wake::none) {
      phases_ = 0;
      first_ = std::max(now, second(now) + kIntoSecond);
      first_for_ = std::max(first_for_, asked);
      // Whether a job's wake-up was lost shows in its nodes. Of other nodes nothing shows, and one more wake-up would
      // take the look away from who asks next in that second: it comes only when the first one may well have been lost.
      if (asked == Wake::jobs || !has_look(now)) {
        again_ = second(now) + std::chrono::seconds(1) + kIntoSecond;
        again_for_ = std::max(again_for_, asked);
      }
    }
    const bool first = take(first_, now);
    const bool again = take(again_, now);
    const bool phase = take(phase_, now);
    const Wake reason =
        phase ? Wake::phase : std::max(first ? first_for_ : Wake::none, again ? again_for_ : Wake::none);
    if (first) first_for_ = Wake::none;
    if (again) again_for_ = Wake::none;
    if (first || again) {
      const Wall tick = second(now) + kPhase;
      phase_ = tick > now ? tick : tick + std::chrono::seconds(1);
      settled_.reset();
    } else if (phase) {
      settled_ = now;
      if (++phases_ < kMaxPhases) phase_ = second(now) + kKeep + kPhase;
    }
    return reason;
  }

  /** How long until due() may be true without a question. */
  std::chrono::milliseconds wait(Wall now) const {
    std::chrono::milliseconds shortest = kKeep;
    for (const std::optional<Wall>& time : {first_, again_, phase_}) {
      if (time) shortest = std::min(shortest, std::chrono::ceil<std::chrono::milliseconds>(*time - now));
    }
    return std::max(shortest, std::chrono::milliseconds(1));
  }

 private:
  /**
   * Whether the thread has, by all that is known, not looked yet in this second: its own tick is where we have put it.
   */
  bool has_look(Wall now) const {
    return settled_ && now > *settled_ && now < *settled_ + 2 * kKeep && second(now) != second(*settled_) &&
           now < second(now) + kPhase - kEarly;
  }
  static Wall second(Wall time) { return std::chrono::floor<std::chrono::seconds>(time); }
  /** True when `time` has come, or lies so far ahead that the clock must have been set back. */
  static bool take(std::optional<Wall>& time, Wall now) {
    if (!time || (now < *time && *time < now + 2 * kKeep)) return false;
    time.reset();
    return true;
  }

  std::optional<Wall> first_;
  std::optional<Wall> again_;
  std::optional<Wall> phase_;
  int phases_ = 0;  // since the last question
  Wake first_for_ = Wake::none;
  Wake again_for_ = Wake::none;
  std::optional<Wall> settled_;  // its own tick was put in its place then, and it has not been woken since
};

}  // namespace slurmk8s
