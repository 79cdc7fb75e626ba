// SPDX-License-Identifier: GPL-2.0-or-later
// Random: names that nobody else has, and jitter. Any thread.
#pragma once

#include <string>

namespace slurmk8s {

/** 16 random lower-case hexadecimal digits (getrandom(2)). */
std::string random_id();
/** A random number in [0, 1): jitter for Backoff. */
double random_unit();

}  // namespace slurmk8s
