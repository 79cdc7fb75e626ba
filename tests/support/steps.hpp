// SPDX-License-Identifier: GPL-2.0-or-later
// Whether things that fail together are tried again together, all of them in the same moment.
#pragma once

#include <cstddef>

namespace slurmk8s {

/** Calls `tick`, which returns how many of `count` things were tried. True when it was always all of them, or none. */
template <typename Tick>
bool stay_in_step(std::size_t count, int ticks, Tick tick) {
  for (int i = 0; i < ticks; i++) {
    const std::size_t tried = tick();
    if (tried != 0 && tried != count) return false;
  }
  return true;
}

}  // namespace slurmk8s
