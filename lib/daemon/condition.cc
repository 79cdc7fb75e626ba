// SPDX-License-Identifier: GPL-2.0-or-later
// Conditions in a status.
#include "daemon/condition.hpp"

#include "base/rfc3339.hpp"

namespace slurmk8s {

Json find_condition(const Json& status, std::string_view type) {
  const Json conditions = status["conditions"];
  for (std::size_t i = 0; i < conditions.size(); i++) {
    if (conditions[i]["type"].text() == type) return conditions[i];
  }
  return Json();
}

std::string transition_time(const Json& old, std::string_view status, std::chrono::system_clock::time_point now) {
  const std::string_view since = old["lastTransitionTime"].text();
  if (old["status"].text() == status && !since.empty()) return std::string(since);
  return rfc3339(std::chrono::floor<std::chrono::seconds>(now)).substr(0, 19) + "Z";
}

}  // namespace slurmk8s
