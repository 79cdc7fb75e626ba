// SPDX-License-Identifier: GPL-2.0-or-later
// Local times of zones, by the C library and the system's tz database (/usr/share/zoneinfo, or $TZDIR).
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"
#include "nodeset/cron_time.hpp"

namespace slurmk8s {

/**
 * Sets TZ to what it means when it is unset. Before the first thread: later on in_time_zone() changes its value alone,
 * and a thread that reads the environment meanwhile finds its variables.
 */
void prepare_time_zones();

/**
 * Calls `fn` with the local time of a zone, such as "Europe/Berlin". The C library has one zone at a time: other
 * threads' local times are those of this zone meanwhile. Error (not_found): there is no such zone; UTC and Etc/UTC are
 * always there.
 */
Status in_time_zone(const std::string& zone, const std::function<void(const LocalTime&)>& fn);

}  // namespace slurmk8s
