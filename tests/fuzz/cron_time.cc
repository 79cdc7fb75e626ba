// SPDX-License-Identifier: GPL-2.0-or-later
// The last time of a schedule, whatever it says: in the window, and a time of the schedule.
#include <ctime>

#include "fuzz/target.hpp"
#include "nodeset/cron_time.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto cron = parse_cron_time(as_text(data, size));
  if (!cron.ok()) {
    require(cron.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  constexpr std::time_t kEnd = 1'709'251'199;  // the last second of 2024-02-29
  constexpr std::time_t kDay = 24 * 60 * 60;
  const auto utc = [](std::time_t time) {
    std::tm fields{};
    gmtime_r(&time, &fields);
    return fields;
  };
  const auto last = last_time(*cron, utc, kEnd - kDay + 1, kEnd);
  if (!last) return 0;
  require(*last > kEnd - kDay && *last <= kEnd, "a time outside of the window");
  const std::tm fields = utc(*last);
  require(fields.tm_sec == 0 && cron->minutes[fields.tm_min] && cron->hours[fields.tm_hour], "another time");
  require(cron->months[fields.tm_mon + 1], "another month");
  const bool day = cron->days[fields.tm_mday];
  const bool weekday = cron->weekdays[fields.tm_wday];
  require(cron->either_day ? day || weekday : day && weekday, "another day");
  return 0;
}
