// SPDX-License-Identifier: GPL-2.0-or-later
// Windows of spare nodes.
#include "nodeset/spare_schedule.hpp"

#include <algorithm>
#include <optional>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/nodeset.hpp"

namespace slurmk8s {
namespace {

constexpr std::size_t kMaxZoneName = 64;

/** Takes a number and its unit from the beginning; 0 where there is none. */
std::optional<std::int64_t> take_number(std::string_view& text, char unit) {
  const std::size_t end = text.find(unit);
  if (end == std::string_view::npos) return 0;
  const std::string_view digits = text.substr(0, end);
  text.remove_prefix(end + 1);
  constexpr std::size_t kMaxDigits = 5;  // of minutes in a week
  const bool is_number = !digits.empty() && digits.size() <= kMaxDigits &&
                         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number ? parse_int(digits) : std::nullopt;
}

Result<SpareSchedule> decode_schedule(const Json& value, const std::string& field) {
  if (!value.is_object()) return invalid_field(field, value.type_name(), "must be an object");
  SpareSchedule schedule;
  for (const char* name : {"start", "duration", "replicas"}) {
    if (value[name].is_null()) return required_field(field + "." + name);
  }
  const auto start = parse_cron_time(value["start"].text());
  if (!start) return invalid_field(field + ".start", value["start"], start.error().message());
  schedule.start = *start;
  const auto duration = parse_window(value["duration"].text());
  if (!duration) return invalid_field(field + ".duration", value["duration"], duration.error().message());
  schedule.duration = *duration;
  const Json zone = value["timeZone"];
  schedule.time_zone = zone.is_null() ? "Etc/UTC" : zone.text();
  if (!is_zone_name(schedule.time_zone)) {
    return invalid_field(field + ".timeZone", zone, "must be the name of a time zone, such as Europe/Berlin");
  }
  const Json replicas = value["replicas"];
  schedule.replicas = replicas.integer_or(0);
  if (!replicas.is_integer() || schedule.replicas < 1 || schedule.replicas > kMaxReplicas) {
    return invalid_field(field + ".replicas", replicas,
                         format("must be 1 to %lld", static_cast<long long>(kMaxReplicas)));
  }
  const Json variant = value["variant"];
  if (!variant.is_null() && !variant.is_string()) {
    return invalid_field(field + ".variant", variant, "must be the name of a variant");
  }
  schedule.variant = variant.text();
  return schedule;
}

}  // namespace

Result<std::chrono::minutes> parse_window(std::string_view text) {
  const Error error(Errc::invalid, "must be hours and minutes from 1m to 168h, such as 3h, 90m or 1h30m");
  const auto hours = take_number(text, 'h');
  const auto minutes = take_number(text, 'm');
  if (!hours || !minutes || !text.empty()) return error;
  const std::chrono::minutes all = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
  if (all < std::chrono::minutes(1) || all > kMaxSpareWindow) return error;
  return all;
}

bool is_zone_name(std::string_view text) {
  const auto parts = split(text, '/');
  return text.size() <= kMaxZoneName && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
             return is_alphanumeric(c) || c == '_' || c == '-' || c == '+';
           });
         });
}

Result<SpareSchedules> decode_spare_schedules(const Json& spec) {
  const std::string field = "spec.spareSchedules";
  const Json list = spec["spareSchedules"];
  SpareSchedules schedules;
  if (list.is_null()) return schedules;
  if (!list.is_array()) return invalid_field(field, list.type_name(), "must be an array");
  if (list.size() > kMaxSpareSchedules) return too_many_items(field, list.size(), kMaxSpareSchedules);
  for (std::size_t i = 0; i < list.size(); i++) {
    schedules.push_back(SLURMK8S_TRY(decode_schedule(list[i], field + format("[%zu]", i))));
  }
  return schedules;
}

std::string to_string(const SpareReplicas& replicas) {
  std::string text;
  for (const auto& [variant, count] : replicas) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + (variant.empty() ? "" : " of " + variant);
  }
  return text.empty() ? "0" : text;
}

bool is_open(const SpareSchedule& schedule, const LocalTime& local, std::time_t now) {
  const std::chrono::seconds duration = schedule.duration;
  return last_time(schedule.start, local, now - duration.count() + 1, now).has_value();
}

}  // namespace slurmk8s
