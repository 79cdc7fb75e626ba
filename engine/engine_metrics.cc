// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's status in JSON.
#include "engine/engine_metrics.hpp"

namespace slurmk8s {
namespace {

Json number(std::uint64_t value) { return Json::integer(static_cast<std::int64_t>(value)); }

template <typename AnyHistogram>
Json encode(const AnyHistogram& histogram) {
  Json counts = Json::array();
  for (const std::uint64_t count : histogram.counts()) counts.push(number(count));
  Json object = Json::object();
  object.set("counts", counts).set("sum", Json::number(histogram.sum()));
  return object;
}

}  // namespace

Json encode_status(const EngineMetrics& metrics, const EngineGauges& gauges, const LockTimes& locks) {
  Json failures = Json::object();
  for (std::size_t cause = 0; cause < metrics.failures.size(); ++cause) {
    failures.set(to_string(static_cast<Cause>(cause)), number(metrics.failures[cause]));
  }
  Json pods = Json::object();
  pods.set("pending", number(gauges.pods_pending))
      .set("running", number(gauges.pods_running))
      .set("ended", number(gauges.pods_ended))
      .set("deleting", number(gauges.pods_deleting));
  Json steps = Json::object();
  steps.set("accepted", encode(metrics.accepted))
      .set("scheduled", encode(metrics.scheduled))
      .set("running", encode(metrics.running));
  Json api = Json::object();
  api.set("create", encode(metrics.api[static_cast<std::size_t>(ApiVerb::create)]))
      .set("delete", encode(metrics.api[static_cast<std::size_t>(ApiVerb::remove)]))
      .set("get", encode(metrics.api[static_cast<std::size_t>(ApiVerb::get)]));
  Json locked = Json::object();
  for (std::size_t call = 0; call < locks.size(); ++call) locked.set(kLockedCalls[call], encode(locks[call]));
  Json answer = Json::object();
  answer.set("ok", Json::boolean(true))
      .set("ready", Json::boolean(gauges.ready))
      .set("pods", pods)
      .set("queue_depth", number(gauges.queue_depth))
      .set("in_flight", number(gauges.in_flight))
      .set("held_nodes", number(gauges.held_nodes))
      .set("protected_nodesets", number(gauges.protected_nodesets))
      .set("resumes", number(metrics.resumes))
      .set("suspends", number(metrics.suspends))
      .set("pods_created", number(metrics.pods_created))
      .set("pods_deleted", number(metrics.pods_deleted))
      .set("api_errors", number(metrics.api_errors))
      .set("paused", Json::boolean(gauges.paused))
      .set("api_pauses", number(metrics.api_pauses))
      .set("failures", failures)
      .set("resume_steps", steps)
      .set("api_latency", api)
      .set("locked", locked);
  return answer;
}

}  // namespace slurmk8s
