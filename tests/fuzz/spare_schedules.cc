// SPDX-License-Identifier: GPL-2.0-or-later
// spec.spareSchedules, whatever it says: what is taken has bounds.
#include <ctime>

#include "fuzz/target.hpp"
#include "nodeset/spare_schedule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto spec = Json::parse(as_text(data, size));
  if (!spec.ok()) return 0;
  const auto schedules = decode_spare_schedules(*spec);
  if (!schedules.ok()) {
    require(schedules.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  require(schedules->size() <= kMaxSpareSchedules, "too many schedules");
  int asked = 0;
  const auto local = [&asked](std::time_t time) {
    asked++;
    std::tm fields{};
    gmtime_r(&time, &fields);
    return fields;
  };
  for (const SpareSchedule& schedule : *schedules) {
    require(schedule.duration > std::chrono::minutes(0) && schedule.duration <= kMaxSpareWindow,
            "a window of any size");
    require(schedule.replicas >= 0, "less than no node");
    require(is_zone_name(schedule.time_zone), "a time zone of any name");
    is_open(schedule, local, 1'709'251'199);
  }
  constexpr int kQuarters = 168 * 4 + 2;
  require(asked <= kQuarters * static_cast<int>(schedules->size()), "too many local times");
  return 0;
}
