// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's metrics: one table, and the status in JSON that is made from it.
#include "engine/engine_metrics.hpp"

#include <utility>

namespace slurmk8s {
namespace {

/** All that a status is made of. */
struct Sources {
  const EngineMetrics& metrics;
  const EngineGauges& gauges;
  const LockTimes& locks;
};

Json number(std::uint64_t value) { return Json::integer(static_cast<std::int64_t>(value)); }

template <typename AnyHistogram>
Json encode(const AnyHistogram& histogram) {
  Json bounds = Json::array();
  for (const double bound : AnyHistogram::kBounds) bounds.push(Json::number(bound));
  Json counts = Json::array();
  for (const std::uint64_t count : histogram.counts()) counts.push(number(count));
  return Json::object().set("bounds", bounds).set("counts", counts).set("sum", Json::number(histogram.sum()));
}

Json pods_by_state(const Sources& from) {
  return Json::object()
      .set("pending", number(from.gauges.pods_pending))
      .set("running", number(from.gauges.pods_running))
      .set("ended", number(from.gauges.pods_ended))
      .set("deleting", number(from.gauges.pods_deleting));
}

Json starting_by_awaited(const Sources& from) {
  Json nodes = Json::object();
  for (std::size_t awaited = 0; awaited < kAwaited; ++awaited) {
    nodes.set(to_string(static_cast<Awaited>(awaited)), number(from.gauges.starting_nodes[awaited]));
  }
  return nodes;
}

Json failures_by_cause(const Sources& from) {
  Json failures = Json::object();
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    failures.set(to_string(static_cast<Cause>(cause)), number(from.metrics.failures[cause]));
  }
  return failures;
}

Json times_by_step(const Sources& from) {
  return Json::object()
      .set("accepted", encode(from.metrics.accepted))
      .set("scheduled", encode(from.metrics.scheduled))
      .set("running", encode(from.metrics.running));
}

Json times_by_verb(const Sources& from) {
  const auto& api = from.metrics.api;
  return Json::object()
      .set("create", encode(api[static_cast<std::size_t>(ApiVerb::create)]))
      .set("delete", encode(api[static_cast<std::size_t>(ApiVerb::remove)]))
      .set("get", encode(api[static_cast<std::size_t>(ApiVerb::get)]));
}

Json times_by_call(const Sources& from) {
  Json times = Json::object();
  for (std::size_t call = 0; call < from.locks.size(); ++call) times.set(kLockedCalls[call], encode(from.locks[call]));
  return times;
}

struct Metric {
  const char* name;
  const char* type;  ///< Prometheus': gauge, counter or histogram
  const char* help;
  const char* label;  ///< null: one sample; else `value` gives a sample for each value of this label
  Json (*value)(const Sources& from);
};

// The only list of the engine's metrics. The sidecar publishes what it gets; docs/admin/monitoring.md describes them
// (tests/unit/sidecar/metrics_test.cc compares the names and types).
constexpr Metric kMetrics[] = {
    {"slurm_k8s_engine_paused", "gauge", "1 while the API server asks for a pause (429, Retry-After).", nullptr,
     [](const Sources& from) { return number(from.gauges.paused ? 1 : 0); }},
    {"slurm_k8s_engine_pods", "gauge", "Pods of nodes, by state.", "state", pods_by_state},
    {"slurm_k8s_engine_starting_nodes", "gauge", "Resumed nodes whose pod does not run yet, by what they wait for.",
     "waits_for", starting_by_awaited},
    {"slurm_k8s_engine_node_failures_total", "counter", "Nodes set DOWN, by cause.", "cause", failures_by_cause},
    {"slurm_k8s_engine_resume_seconds", "histogram", "Time from the resume of a node to a step of its pod, by step.",
     "step", times_by_step},
    {"slurm_k8s_engine_api_request_seconds", "histogram", "Time until the API server answers, by verb.", "verb",
     times_by_verb},
    {"slurm_k8s_engine_locked_seconds", "histogram", "Time slurmctld locks were held by the plugin, by call site.",
     "call", times_by_call},
    {"slurm_k8s_engine_queue_depth", "gauge", "Nodes that wait for their next action.", nullptr,
     [](const Sources& from) { return number(from.gauges.queue_depth); }},
    {"slurm_k8s_engine_api_requests_in_flight", "gauge", "Requests to the API server without an answer yet.", nullptr,
     [](const Sources& from) { return number(from.gauges.in_flight); }},
    {"slurm_k8s_engine_backing_off_nodes", "gauge", "Nodes that back off after a failed start.", nullptr,
     [](const Sources& from) { return number(from.gauges.backing_off_nodes); }},
    {"slurm_k8s_engine_protected_nodesets", "gauge", "NodeSets whose power-ups fail again and again.", nullptr,
     [](const Sources& from) { return number(from.gauges.protected_nodesets); }},
    {"slurm_k8s_engine_resumes_total", "counter", "Node resume requests received.", nullptr,
     [](const Sources& from) { return number(from.metrics.resumes); }},
    {"slurm_k8s_engine_suspends_total", "counter", "Node suspend requests received.", nullptr,
     [](const Sources& from) { return number(from.metrics.suspends); }},
    {"slurm_k8s_engine_pods_created_total", "counter", "Pods created.", nullptr,
     [](const Sources& from) { return number(from.metrics.pods_created); }},
    {"slurm_k8s_engine_pods_deleted_total", "counter", "Pods deleted.", nullptr,
     [](const Sources& from) { return number(from.metrics.pods_deleted); }},
    {"slurm_k8s_engine_api_errors_total", "counter", "Requests that the API server did not carry out.", nullptr,
     [](const Sources& from) { return number(from.metrics.api_errors); }},
    {"slurm_k8s_engine_api_pauses_total", "counter", "Pauses that the API server asked for.", nullptr,
     [](const Sources& from) { return number(from.metrics.api_pauses); }},
};

Json encode(const Metric& metric, const Sources& from) {
  Json object = Json::object();
  object.set("name", metric.name).set("type", metric.type).set("help", metric.help);
  if (metric.label != nullptr) object.set("label", metric.label);
  return object.set("value", metric.value(from));
}

}  // namespace

Json encode_status(const EngineMetrics& metrics, const EngineGauges& gauges, const LockTimes& locks) {
  Json list = Json::array();
  for (const Metric& metric : kMetrics) list.push(encode(metric, {metrics, gauges, locks}));
  return Json::object()
      .set("ok", Json::boolean(true))
      .set("ready", Json::boolean(gauges.ready))
      .set("metrics", std::move(list));
}

}  // namespace slurmk8s
