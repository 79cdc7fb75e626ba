// SPDX-License-Identifier: GPL-2.0-or-later
// Update strategies.
#include "nodeset/update_strategy.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"

namespace slurmk8s {
namespace {

constexpr std::int64_t kDefaultPercentage = 25;

/** 3, or "25%". */
Status decode_max_unavailable(const Json& value, UpdateStrategy& strategy) {
  if (value.is_null()) {
    strategy.percentage = kDefaultPercentage;
    return {};
  }
  const std::string_view text = value.text();
  const bool is_percentage = text.ends_with('%');
  std::optional<std::int64_t> number;
  if (value.is_integer()) number = value.integer_or(0);
  if (is_percentage) number = parse_int(text.substr(0, text.size() - 1));
  if (!number || *number < 1 || (is_percentage && *number > 100)) {
    return invalid_field("spec.updateStrategy.rollingUpdate.maxUnavailable", value,
                         "must be a number of nodes, at least 1, or a percentage from \"1%\" to \"100%\"");
  }
  (is_percentage ? strategy.percentage : strategy.max_unavailable) = *number;
  return {};
}

}  // namespace

// Rounded up, as for a DaemonSet, and at least one: otherwise no node would ever be updated.
std::int64_t UpdateStrategy::unavailable_limit(std::int64_t nodes) const {
  return percentage == 0 ? max_unavailable : std::max<std::int64_t>(1, (nodes * percentage + 99) / 100);
}

Result<UpdateStrategy> decode_update_strategy(const Json& spec) {
  using Type = UpdateStrategy::Type;
  const Json value = spec["updateStrategy"];
  const std::string field = "spec.updateStrategy";
  if (!value.is_null() && !value.is_object()) return invalid_field(field, value.type_name(), "must be an object");
  UpdateStrategy strategy;
  const Json type = value["type"];
  if (type.text() == "OnDelete") strategy.type = Type::on_delete;
  if (type.text() == "ScheduledUpdate") strategy.type = Type::scheduled;
  if (!type.is_null() && type.text() != "RollingUpdate" && strategy.type == Type::rolling) {
    return unsupported_field(field + ".type", type, {"RollingUpdate", "OnDelete", "ScheduledUpdate"});
  }
  const Json rolling = value["rollingUpdate"];
  if (!rolling.is_null() && !rolling.is_object())
    return invalid_field(field + ".rollingUpdate", rolling.type_name(), "must be an object");
  SLURMK8S_CHECK(decode_max_unavailable(rolling["maxUnavailable"], strategy));
  return strategy;
}

}  // namespace slurmk8s
