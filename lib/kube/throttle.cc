// SPDX-License-Identifier: GPL-2.0-or-later
// One pause for all that share it.
#include "kube/throttle.hpp"

#include <algorithm>

namespace slurmk8s::kube {

std::optional<Throttle::Pause> Throttle::heed(const Error& error) {
  if (error.code() != Errc::throttled) return std::nullopt;
  const std::chrono::seconds asked = error.retry_after().value_or(std::chrono::seconds(1));
  const std::chrono::seconds wait = std::min(asked, kLongestPause);
  const TimePoint until = clock_.now() + wait;
  if (until <= until_) return std::nullopt;
  const bool is_new = !is_paused();
  until_ = until;
  asked_ = asked;
  const Pause pause{wait, asked, is_new};
  if (on_pause_) on_pause_(pause);
  return pause;
}

std::optional<std::chrono::seconds> Throttle::asked_lately() const {
  return clock_.now() < until_ + kRemembered ? asked_ : std::nullopt;
}

}  // namespace slurmk8s::kube
