// SPDX-License-Identifier: GPL-2.0-or-later
// PowerSaveTicks: when slurmctld's power-save thread is to be woken. Pure; one thread.
//
// That thread looks for nodes to resume once a second, and at once when it is woken; but never twice in the same second
// of the clock (src/slurmctld/power_save.c, _power_save_thread: now > last_power_scan). Two things follow:
//  - a wake-up in a second in which it has looked already is lost: another one comes when the next second begins;
//  - its own tick is moved to the end of a second, so that a look is still to be had in nearly all of the next one:
//    a wake-up restarts the second for which it sleeps. slurmctld schedules batch jobs when a second begins.
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
  /** Past the start of a second by this, so that slurmctld's clock shows it for sure. */
  static constexpr std::chrono::milliseconds kIntoSecond{2};
  /** The tick is put there this often: each resume and suspend that the thread starts makes it some 10 ms later. */
  static constexpr std::chrono::seconds kPeriod{1};

  /** True when the thread is to be woken now. `asked`: a job has just begun to wait for nodes. */
  bool due(Wall now, bool asked) {
    const bool again = again_ && now >= *again_;
    const bool phase = phase_ && (now >= *phase_ || *phase_ > now + 2 * kPeriod);  // the latter: the clock was set back
    if (again) again_.reset();
    if (asked) again_ = second(now) + std::chrono::seconds(1) + kIntoSecond;
    if (asked || again) {
      phase_ = second(now) + kPhase;
      if (*phase_ <= now) *phase_ += std::chrono::seconds(1);
    } else if (phase) {
      phase_ = second(now) + kPeriod + kPhase;
    }
    return asked || again || phase;
  }

  /** How long until due() may be true without a question. */
  std::chrono::milliseconds wait(Wall now) const {
    if (!phase_) return kPeriod;
    const Wall next = again_ ? std::min(*again_, *phase_) : *phase_;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
    return std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(1), kPeriod);
  }

 private:
  static Wall second(Wall time) { return std::chrono::floor<std::chrono::seconds>(time); }

  std::optional<Wall> again_;
  std::optional<Wall> phase_;
};

}  // namespace slurmk8s
