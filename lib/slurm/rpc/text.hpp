// SPDX-License-Identifier: GPL-2.0-or-later
// Texts in libslurm's structs.
#pragma once

#include <string>

namespace slurmk8s {

/** libslurm has null for what was never set. */
inline std::string text_of(const char* value) { return value == nullptr ? std::string() : std::string(value); }

}  // namespace slurmk8s
