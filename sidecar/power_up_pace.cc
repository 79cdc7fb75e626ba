// SPDX-License-Identifier: GPL-2.0-or-later
// The back-off of power-ups.
#include "sidecar/power_up_pace.hpp"

namespace slurmk8s {

void PowerUpPace::powered_up(const std::string& node, TimePoint now) {
  Entry& entry = nodes_[node];
  const bool lasted = now - entry.last >= entry.wait + kSteady;
  entry.times = lasted ? 1 : entry.times + 1;
  entry.wait = kBackOff.delay(entry.times, jitter_());
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
