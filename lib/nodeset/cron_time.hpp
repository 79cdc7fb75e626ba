// SPDX-License-Identifier: GPL-2.0-or-later
// CronTime: times of a clock and a calendar, as in the schedule of a Kubernetes CronJob. Pure; any thread.
#pragma once

#include <bitset>
#include <ctime>
#include <functional>
#include <optional>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

struct CronTime {
  std::bitset<60> minutes;
  std::bitset<24> hours;
  std::bitset<32> days;     ///< of the month, from 1
  std::bitset<13> months;   ///< from 1
  std::bitset<7> weekdays;  ///< from Sunday
  /** Both fields of days are restricted: a day of either is one. */
  bool either_day = false;
};

/**
 * "0 7 * * 1-5": minute, hour, day of the month, month, day of the week. Each is a list of numbers, ranges and '*',
 * each with a step if need be: "0-30/10,45". Months and days of the week have names too (JAN, mon); 7 is Sunday. Error
 * (invalid): "must be …", or "hour must be …".
 */
Result<CronTime> parse_cron_time(std::string_view text);

/** The local time of a moment: one zone's. */
using LocalTime = std::function<std::tm(std::time_t)>;

/**
 * The last such time from `earliest` to `now`, to the minute; empty: there is none. A time that a change of the clocks
 * skips is none, and one that comes twice is two. It takes the local time of each quarter of an hour between them.
 */
std::optional<std::time_t> last_time(const CronTime& cron, const LocalTime& local, std::time_t earliest,
                                     std::time_t now);

}  // namespace slurmk8s
