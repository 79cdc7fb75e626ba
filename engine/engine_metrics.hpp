// SPDX-License-Identifier: GPL-2.0-or-later
// EngineMetrics: what the engine counts, and the answer to its status command. A new metric is a member here and a row
// of kMetrics in engine_metrics.cc; the sidecar publishes every row in Prometheus' text format.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/histogram.hpp"
#include "control/lock_times.hpp"
#include "engine/node.hpp"
#include "engine/plan.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** A request to the API server about a pod. */
enum class ApiVerb { create, remove, get };

struct EngineMetrics {
  std::uint64_t resumes = 0;   ///< resume requests, one for each node
  std::uint64_t suspends = 0;  ///< suspend requests, one for each node
  std::uint64_t pods_created = 0;
  std::uint64_t pods_deleted = 0;
  std::uint64_t api_errors = 0;
  std::uint64_t api_pauses = 0;  ///< pauses that the API server asked for (429, Retry-After)
  /** Nodes reported to slurmctld as lost or unable to come up, by Cause. */
  std::array<std::uint64_t, kCauses> failures{};

  // From the resume request to each step of the pod, as the engine sees it.
  Histogram accepted;
  Histogram scheduled;
  Histogram running;

  std::array<Histogram, 3> api;  ///< by ApiVerb: from the request to its answer

  std::uint64_t failed_nodes() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : failures) sum += count;
    return sum;
  }
};

/** Counts of the moment, beside the metrics. */
struct EngineGauges {
  bool ready = false;
  bool paused = false;  ///< the API server asked for a pause: no request about a pod is sent
  std::size_t pods_pending = 0;
  std::size_t pods_running = 0;
  std::size_t pods_ended = 0;
  std::size_t pods_deleting = 0;
  std::array<std::size_t, kAwaited> starting_nodes{};  ///< by Awaited
  std::size_t queue_depth = 0;
  std::size_t in_flight = 0;
  std::size_t backing_off_nodes = 0;
  std::size_t protected_nodesets = 0;
};

/**
 * The answer to {"op":"status"}: {"ok":true,"ready":…,"metrics":[{"name","type","help","value"},…]}. With "label",
 * "value" is an object of one sample for each value of that label. A sample is a number; of a histogram it is
 * {"bounds":[…],"counts":[…],"sum":s}: the upper bounds of the buckets, and the count of each bucket alone, the one
 * without a bound last.
 */
Json encode_status(const EngineMetrics& metrics, const EngineGauges& gauges, const LockTimes& locks);

}  // namespace slurmk8s
