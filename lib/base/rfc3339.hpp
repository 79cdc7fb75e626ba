// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 3339: times of Kubernetes' objects. Pure; any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace slurmk8s {

/** RFC 3339 in UTC with microseconds and Z, as Kubernetes' MicroTime writes it. */
std::string rfc3339(std::chrono::system_clock::time_point time);
/** Reads RFC 3339 with Z and optional fraction; empty when malformed. */
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

}  // namespace slurmk8s
