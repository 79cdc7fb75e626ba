// SPDX-License-Identifier: GPL-2.0-or-later
// Backoff: doubling with a cap, spread by jitter.
#include "base/backoff.hpp"

#include <algorithm>

namespace slurmk8s {

std::chrono::milliseconds Backoff::delay(unsigned failures, double jitter) const {
  using std::chrono::milliseconds;
  if (failures == 0 || cap <= milliseconds(0)) return milliseconds(0);
  milliseconds whole = std::clamp(first, milliseconds(0), cap);
  for (unsigned i = 1; i < failures && whole > milliseconds(0) && whole < cap; ++i) {
    // Not whole * 2, which may overflow.
    whole = whole > cap - whole ? cap : whole + whole;
  }
  const double spread = std::clamp(jitter, 0.0, 1.0);
  const auto half = whole / 2;
  const auto part = static_cast<milliseconds::rep>(static_cast<double>((whole - half).count()) * spread);
  return std::min(whole, half + milliseconds(part));
}

std::chrono::milliseconds Backoff::delay(unsigned failures, double jitter,
                                         std::optional<std::chrono::seconds> asked) const {
  return std::max<std::chrono::milliseconds>(asked.value_or(std::chrono::seconds(0)), delay(failures, jitter));
}

}  // namespace slurmk8s
