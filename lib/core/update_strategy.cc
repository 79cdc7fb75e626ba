// SPDX-License-Identifier: GPL-2.0-or-later
// Update strategies.
#include "core/update_strategy.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.hpp"

namespace slurmk8s {
namespace {

constexpr std::int64_t kDefaultPercentage = 25;

Error wrong(const std::string& field, const std::string& what) { return Error(Errc::invalid, field + ": " + what); }

/** Rounded up, as Kubernetes rounds it for a DaemonSet, and at least one: otherwise nothing would ever be updated. */
std::int64_t part_of(std::int64_t replicas, std::int64_t percentage) {
  return std::max<std::int64_t>(1, (replicas * percentage + 99) / 100);
}

/** 3, or "25%". */
Result<std::int64_t> decode_max_unavailable(const Json& value, std::int64_t replicas) {
  if (value.is_null()) return part_of(replicas, kDefaultPercentage);
  std::optional<std::int64_t> number;
  const std::string_view text = value.text();
  const bool is_percentage = text.ends_with('%');
  if (value.is_integer()) number = value.integer_or(0);
  if (is_percentage) number = parse_int(text.substr(0, text.size() - 1));
  if (!number || *number < 1 || (is_percentage && *number > 100)) {
    return wrong("spec.updateStrategy.rollingUpdate.maxUnavailable",
                 value.dump() + ": must be a number of nodes, at least 1, or a percentage from \"1%\" to \"100%\"");
  }
  return is_percentage ? part_of(replicas, *number) : *number;
}

}  // namespace

Result<UpdateStrategy> decode_update_strategy(const Json& spec, std::int64_t replicas) {
  using Type = UpdateStrategy::Type;
  const Json given = spec["updateStrategy"];
  const std::string field = "spec.updateStrategy";
  if (!given.is_null() && !given.is_object()) return wrong(field, "an object is needed");
  UpdateStrategy strategy;
  const Json type = given["type"];
  if (type.text() == "OnDelete") strategy.type = Type::on_delete;
  if (type.text() == "ScheduledUpdate") strategy.type = Type::scheduled;
  if (!type.is_null() && type.text() != "RollingUpdate" && strategy.type == Type::rolling) {
    return wrong(field + ".type", type.dump() + ": must be RollingUpdate, OnDelete or ScheduledUpdate");
  }
  const Json rolling = given["rollingUpdate"];
  if (!rolling.is_null() && !rolling.is_object()) return wrong(field + ".rollingUpdate", "an object is needed");
  strategy.max_unavailable = SLURMK8S_TRY(decode_max_unavailable(rolling["maxUnavailable"], replicas));
  return strategy;
}

}  // namespace slurmk8s
