// SPDX-License-Identifier: GPL-2.0-or-later
// The back-off of power-ups.
#include "sidecar/power_up_pace.hpp"

#include <algorithm>

namespace slurmk8s {

void PowerUpPace::powered_up(const std::string& node, TimePoint now) {
  const auto [found, is_new] = nodes_.try_emplace(node, Entry{now, kShortest});
  if (is_new) return;
  Entry& entry = found->second;
  const bool lasted = now - entry.last >= entry.wait + kSteady;
  entry.wait = lasted ? kShortest : std::min(2 * entry.wait, kLongest);
  entry.last = now;
}

PowerUpPace::Held PowerUpPace::held(TimePoint now) const {
  Held held;
  for (const auto& [node, entry] : nodes_) {
    const TimePoint until = entry.last + entry.wait;
    if (until <= now) continue;
    held.nodes.insert(node);
    if (!held.until || until < *held.until) held.until = until;
  }
  return held;
}

}  // namespace slurmk8s
