// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics of the bridge in Prometheus' text format. metrics.cc alone of the bridge knows prometheus-cpp.
#pragma once

#include <string>

#include "bridge/bridge.hpp"

namespace slurmk8s {

/** The whole answer to GET /metrics. Pure. */
std::string encode_bridge_metrics(const BridgeCounts& counts, std::size_t gangs, const std::string& version);

}  // namespace slurmk8s
