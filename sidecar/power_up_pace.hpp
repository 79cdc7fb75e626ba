// SPDX-License-Identifier: GPL-2.0-or-later
// PowerUpPace: how soon a node of scalingMode Always is powered up again after it went down. One thread.
//
// The engine holds nodes back whose pods can't start. This is for pods that start, register and then die: without it
// they would be made again every few seconds, for ever.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/backoff.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"

namespace slurmk8s {

class PowerUpPace {
 public:
  /** Between two power-ups of one node, while it doesn't last. */
  static constexpr Backoff kBackOff{std::chrono::seconds(10), std::chrono::seconds(300)};
  /** A node that was up for this long after its last power-up starts from the beginning. */
  static constexpr std::chrono::seconds kSteady{120};

  explicit PowerUpPace(Jitter jitter = random_unit) : jitter_(std::move(jitter)) {}

  void powered_up(const std::string& node, TimePoint now);
  /** It was taken away on purpose: when it comes back, it is another one. */
  void forget(const std::string& node) { nodes_.erase(node); }

  struct Held {
    std::set<std::string, std::less<>> nodes;  ///< not to be powered up yet
    std::optional<TimePoint> until;            ///< when the first of them may be
  };
  Held held(TimePoint now) const;

 private:
  struct Entry {
    TimePoint last{};
    unsigned times = 0;  // in a row
    std::chrono::milliseconds wait{};
  };
  const Jitter jitter_;
  std::map<std::string, Entry> nodes_;
};

}  // namespace slurmk8s
