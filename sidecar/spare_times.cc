// SPDX-License-Identifier: GPL-2.0-or-later
// Counts spare nodes by the clock.
#include "sidecar/spare_times.hpp"

#include <algorithm>
#include <cstddef>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/spare_schedule.hpp"

namespace slurmk8s {
namespace {

SpareCount count_one(const NodeSet& nodeset, std::time_t now, const InTimeZone& in_zone) {
  SpareCount spares{nodeset.spare_replicas, {}};
  for (std::size_t i = 0; i < nodeset.spare_schedules.size(); i++) {
    const SpareSchedule& schedule = nodeset.spare_schedules[i];
    const Status known = in_zone(schedule.time_zone, [&](const LocalTime& local) {
      if (!is_open(schedule, local, now)) return;
      std::int64_t& count = spares.replicas[schedule.variant];
      count = std::max(count, schedule.replicas);
    });
    if (known || !spares.problem.empty()) continue;
    spares.problem = invalid_field(format("spec.spareSchedules[%zu].timeZone", i), std::string_view(schedule.time_zone),
                                   known.error().message())
                         .message();
  }
  return spares;
}

}  // namespace

SpareCounts count_spares(const NodeSets& nodesets, std::time_t now, const InTimeZone& in_zone) {
  SpareCounts counts;
  for (const auto& [name, known] : nodesets) {
    if (known.spec.ok() && !known.spec->spare_schedules.empty()) {
      counts.emplace(name, count_one(*known.spec, now, in_zone));
    }
  }
  return counts;
}

}  // namespace slurmk8s
