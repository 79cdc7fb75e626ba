// SPDX-License-Identifier: GPL-2.0-or-later
// Metrics: the sidecar's numbers in Prometheus' text format. metrics.cc and state_metrics.cc (Slurm's state) are the
// only files that know prometheus-cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "json/json.hpp"
#include "sidecar/config_report.hpp"
#include "sidecar/reconciler.hpp"
#include "sidecar/status_writer.hpp"

namespace slurmk8s {

/** The whole answer to GET /metrics. Call it on the thread of its arguments. */
std::string encode_metrics(const Reconciler& reconciler, const StatusWriter& writer, const std::string& version);

/**
 * The engine's part of it: every metric that its status has (engine/engine_metrics.hpp). What this build does not
 * understand is skipped: engine and sidecar may be of different builds during an upgrade. An error, as without an
 * engine: slurm_k8s_engine_up alone. Pure.
 */
std::string encode_engine_metrics(const Result<Json>& status);

/** What became of configurations: nothing before the first is told of. Pure. */
std::string encode_config_metrics(const ConfigCounts& counts);

/** How often slurmctld was asked for its state (sidecar/state_cache.hpp). */
struct StateReads {
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  std::optional<std::chrono::nanoseconds> age;  ///< of the last answer
};

/** Pure. */
std::string encode_state_reads(const StateReads& reads);

/** Whether this sidecar has the lease: of those that elect a leader. Pure. */
std::string encode_leader_metric(bool leads);

}  // namespace slurmk8s
