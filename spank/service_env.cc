// SPDX-License-Identifier: GPL-2.0-or-later
// Distinguishes Kubernetes' service variables from a user's.
#include "spank/service_env.hpp"

#include <set>

namespace slurmk8s {
namespace {

constexpr std::string_view kHost = "_SERVICE_HOST";

bool is_or_begins(std::string_view rest, std::string_view word) {
  return rest.starts_with(word) && (rest.size() == word.size() || rest[word.size()] == '_');
}

/** Whether `rest`, the part after a service's prefix, is a suffix that Kubernetes uses. */
bool is_service_suffix(std::string_view rest) {
  return rest == kHost || is_or_begins(rest, "_SERVICE_PORT") || is_or_begins(rest, "_PORT");
}

}  // namespace

EnvChanges without_services(const std::vector<std::string_view>& names) {
  const std::set<std::string_view> all(names.begin(), names.end());
  std::set<std::string_view> services{"KUBERNETES"};
  for (const std::string_view name : all) {
    if (name.size() <= kHost.size() || !name.ends_with(kHost)) continue;
    const std::string_view service = name.substr(0, name.size() - kHost.size());
    // Only both together: a user's own REDIS_SERVICE_HOST usually comes without the port.
    if (all.contains(std::string(service) + "_SERVICE_PORT")) services.insert(service);
  }
  EnvChanges changes;
  for (const std::string_view name : all) {
    for (std::size_t end = name.find('_'); end != std::string_view::npos; end = name.find('_', end + 1)) {
      if (!services.contains(name.substr(0, end)) || !is_service_suffix(name.substr(end))) continue;
      changes.push_back({std::string(name), std::nullopt});
      break;
    }
  }
  return changes;
}

}  // namespace slurmk8s
