// SPDX-License-Identifier: GPL-2.0-or-later
// count_spares(): how many spare nodes NodeSets with spec.spareSchedules have now. Pure; any thread.
#pragma once

#include <ctime>
#include <functional>
#include <map>
#include <string>

#include "base/result.hpp"
#include "nodeset/cron_time.hpp"
#include "nodeset/spare_schedule.hpp"
#include "sidecar/known_nodeset.hpp"

namespace slurmk8s {

/** Of one NodeSet. */
struct SpareCount {
  SpareReplicas replicas;
  std::string problem;  ///< "spec.spareSchedules[0].timeZone: …" of the first window that cannot be; or empty
  bool operator==(const SpareCount&) const = default;
};

/** By NodeSet: of those that have windows. */
using SpareCounts = std::map<std::string, SpareCount>;

/** in_time_zone() of time_zones.hpp. */
using InTimeZone = std::function<Status(const std::string& zone, const std::function<void(const LocalTime&)>& fn)>;

/**
 * Of each variant the largest of its spareReplicas and its windows that are open. It comes from the time alone: a start
 * that passed between two looks is not missed. It changes on full minutes.
 */
SpareCounts count_spares(const NodeSets& nodesets, std::time_t now, const InTimeZone& in_zone);

}  // namespace slurmk8s
