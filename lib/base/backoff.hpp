// SPDX-License-Identifier: GPL-2.0-or-later
// Backoff: how long to wait before the next try. Pure; the caller brings the randomness.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

namespace slurmk8s {

/** Where a caller of Backoff has its randomness from: a number in [0, 1). random_unit() of base/text.hpp is one. */
using Jitter = std::function<double()>;

struct Backoff {
  std::chrono::milliseconds first{200};
  std::chrono::milliseconds cap{30000};

  /**
   * The wait after `failures` failures in a row (1 for the first): doubled each time from `first` up to `cap`, then
   * spread by `jitter` in [0, 1) to between half and the whole. 0 failures: no wait. Never overflows.
   */
  std::chrono::milliseconds delay(unsigned failures, double jitter) const;
  /** The same, and no less than what the server `asked` for (Retry-After). */
  std::chrono::milliseconds delay(unsigned failures, double jitter, std::optional<std::chrono::seconds> asked) const;
};

}  // namespace slurmk8s
