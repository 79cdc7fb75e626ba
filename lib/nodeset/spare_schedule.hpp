// SPDX-License-Identifier: GPL-2.0-or-later
// spec.spareSchedules of a NodeSet: windows of time with another number of spare nodes. Pure; any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/json.hpp"
#include "nodeset/cron_time.hpp"

namespace slurmk8s {

inline constexpr std::size_t kMaxSpareSchedules = 32;
/** Maximum duration of a window. */
inline constexpr std::chrono::hours kMaxSpareWindow{168};

/** Numbers of spare nodes by variant, "" being those without one. None is 0. */
using SpareReplicas = std::map<std::string, std::int64_t, std::less<>>;

struct SpareSchedule {
  CronTime start;
  std::chrono::minutes duration{0};
  std::string time_zone;  ///< a name of the tz database
  std::int64_t replicas = 0;
  std::string variant;  ///< of these nodes; empty: none
};

using SpareSchedules = std::vector<SpareSchedule>;

/** "3h", "90m", "1h30m", from 1m to 168h. Error (invalid): "must be …". */
Result<std::chrono::minutes> parse_window(std::string_view text);

/** "Europe/Berlin": a name, whether there is such a zone or not. */
bool is_zone_name(std::string_view text);

/** Reads spec.spareSchedules. Error (invalid) names the field. */
Result<SpareSchedules> decode_spare_schedules(const Json& spec);

/** "1, 4 of cuda12"; "0" without any. */
std::string to_string(const SpareReplicas& replicas);

/** Whether `now` is in a window, from its start on. `local` is the time in its zone. */
bool is_open(const SpareSchedule& schedule, const LocalTime& local, std::time_t now);

}  // namespace slurmk8s
