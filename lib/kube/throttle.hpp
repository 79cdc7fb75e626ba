// SPDX-License-Identifier: GPL-2.0-or-later
// Throttle: the pause that the API server asks for (429). It is shared by all that write for one purpose, so that one
// answer silences them all. One thread.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace slurmk8s::kube {

class Throttle {
 public:
  /** A longer Retry-After is cut to this: it may come from a proxy that knows nothing of jobs. */
  static constexpr std::chrono::seconds kLongestPause{60};

  struct Pause {
    std::chrono::seconds wait;   ///< from now
    std::chrono::seconds asked;  ///< what the server asked for
    bool is_new;                 ///< no pause was under way
  };

  using OnPause = std::function<void(const Pause& pause)>;

  /** `clock` must outlive it. `on_pause` hears of what heed() returns, whoever asks; may be empty. */
  explicit Throttle(const Clock& clock, OnPause on_pause = {}) : clock_(clock), on_pause_(std::move(on_pause)) {}

  bool is_paused() const { return clock_.now() < until_; }
  /** What the server asked for last, until kRemembered after the end of that pause: for people who look later. */
  std::optional<std::chrono::seconds> asked_lately() const;
  static constexpr std::chrono::minutes kRemembered{5};
  /** When the pause ends; in the past without one. */
  TimePoint until() const { return until_; }
  /** Begins or prolongs the pause when `error` is a 429 (without Retry-After: 1 s). Empty: nothing has changed. */
  std::optional<Pause> heed(const Error& error);

 private:
  const Clock& clock_;
  const OnPause on_pause_;
  TimePoint until_{};
  std::optional<std::chrono::seconds> asked_;
};

}  // namespace slurmk8s::kube
