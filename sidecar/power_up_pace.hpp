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

#include "base/clock.hpp"

namespace slurmk8s {

class PowerUpPace {
 public:
  /** Between two power-ups of one node: this at first, doubled each time up to kLongest while it doesn't last. */
  static constexpr std::chrono::seconds kShortest{10};
  static constexpr std::chrono::seconds kLongest{300};
  /** A node that was up for this long after its last power-up starts from the beginning. */
  static constexpr std::chrono::seconds kSteady{120};

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
    TimePoint last;
    std::chrono::seconds wait;
  };
  std::map<std::string, Entry> nodes_;
};

}  // namespace slurmk8s
