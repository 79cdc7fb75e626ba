// SPDX-License-Identifier: GPL-2.0-or-later
// Condition: one of a NodeSet's conditions, beside those that NodeSetState makes. A value. And what conditions in a
// status have in common, of NodeSets, pods and Kubernetes nodes. Pure; any thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

struct Condition {
  const char* type;  ///< CamelCase, static
  bool status = false;
  std::string reason;  ///< CamelCase
  std::string message;
};
using Conditions = std::vector<Condition>;

/** The condition of this type in a status; null when it has none. */
Json find_condition(const Json& status, std::string_view type);

/** lastTransitionTime of a condition that was `old` (null: it wasn't there) and is to have `status`, from `now` on. */
std::string transition_time(const Json& old, std::string_view status, std::chrono::system_clock::time_point now);

}  // namespace slurmk8s
