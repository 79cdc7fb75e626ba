// SPDX-License-Identifier: GPL-2.0-or-later
// Backoff: the pause before the next retry. Pure; the caller provides the randomness.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

namespace slurmk8s {

/** A source of random numbers in [0, 1): random_unit() of base/random.hpp, for example. */
using Jitter = std::function<double()>;

struct Backoff {
  std::chrono::milliseconds first{200};
  std::chrono::milliseconds cap{30000};

  /**
   * The pause after `failures` failures in a row (1 for the first): doubled each time from `first` up to `cap`, then
   * scaled by `jitter` in [0, 1] to between half and the whole. 0 failures: no pause. Never overflows.
   */
  std::chrono::milliseconds delay(unsigned failures, double jitter) const;
  /** The same, and no less than the server's Retry-After, `asked`. */
  std::chrono::milliseconds delay(unsigned failures, double jitter, std::optional<std::chrono::seconds> asked) const;
};

}  // namespace slurmk8s
