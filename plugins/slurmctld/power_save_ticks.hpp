// SPDX-License-Identifier: GPL-2.0-or-later
// PowerSaveTicks: when to wake slurmctld's power-save thread. Pure; one thread.
//
// That thread scans for nodes to resume once a second, and at once when it is woken; but never twice in the same second
// of the clock (src/slurmctld/power_save.c, _power_save_thread: now > last_power_scan). Two things follow:
//  - A wake-up in a second that already had a scan is lost: another one comes when the next second begins.
//  - Its own tick is moved to the end of a second, so that a scan is available during nearly all of the next second: a
//    wake-up restarts the second for which it sleeps, and slurmctld schedules batch jobs when a second begins. The tick
//    is moved after each wake-up for a job, and again every few seconds, since each resume and suspend that the thread
//    starts delays it by some 10 ms. Not more often: a wake-up holds Slurm's node write lock for a time that grows with
//    the nodes. And not forever: after kMaxPhases without a request the tick stays where it is.
// Nothing is woken before the first request: slurmctld may not have read its configuration yet. It has when a job gets
// nodes, and when it has answered the engine, which passes on the sidecar's requests only then.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace slurmk8s {

/** What the power-save thread is woken for. */
enum class Wake {
  none,
  jobs,   ///< jobs wait for nodes: not needed if these are already being resumed
  nodes,  ///< nodes to power up or down without a waiting job
  phase,  ///< to move its own tick
};

class PowerSaveTicks {
 public:
  using Wall = std::chrono::system_clock::time_point;

  /** Position of the thread's own tick in a second. */
  static constexpr std::chrono::milliseconds kPhase{950};
  /** How long its own tick stays unmoved. */
  static constexpr std::chrono::seconds kKeep{4};
  /** How often the tick is moved after a request: for ten minutes; the request after that may wait for a second. */
  static constexpr int kMaxPhases = 150;
  /** How much earlier than kPhase it may be. */
  static constexpr std::chrono::milliseconds kEarly{20};
  /** time(2), which slurmctld uses, is late by up to a tick of the kernel, 10 ms: no earlier in a second than this. */
  static constexpr std::chrono::milliseconds kIntoSecond{12};

  /** The reason to wake the thread now. `asked`: the new request: none, jobs or nodes. */
  Wake due(Wall now, Wake asked) {
    if (asked != Wake::none) {
      phases_ = 0;
      first_ = std::max(now, second(now) + kIntoSecond);
      first_for_ = std::max(first_for_, asked);
      // A job's nodes show whether its wake-up was lost. Other nodes do not, and one more wake-up would use up the scan
      // of that second: it comes only if the first one was probably lost.
      if (asked == Wake::jobs || !has_scan(now)) {
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

  /** How long until due() may return a reason without a request. */
  std::chrono::milliseconds wait(Wall now) const {
    std::chrono::milliseconds shortest = kKeep;
    for (const std::optional<Wall>& time : {first_, again_, phase_}) {
      if (time) shortest = std::min(shortest, std::chrono::ceil<std::chrono::milliseconds>(*time - now));
    }
    return std::max(shortest, std::chrono::milliseconds(1));
  }

 private:
  /**
   * Whether the thread has probably not scanned in this second yet: its tick is where it was moved to.
   */
  bool has_scan(Wall now) const {
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
  int phases_ = 0;  // since the last request
  Wake first_for_ = Wake::none;
  Wake again_for_ = Wake::none;
  std::optional<Wall> settled_;  // when its tick was moved; it has not been woken since
};

}  // namespace slurmk8s
