// SPDX-License-Identifier: GPL-2.0-or-later
// encode_metrics(): families of samples, put into text by prometheus-cpp.
#include "sidecar/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/histogram.hpp"
#include "control/lock_times.hpp"

namespace slurmk8s {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

/** One metric with all its samples. */
class Family {
 public:
  Family(const char* name, prometheus::MetricType type, const char* help) {
    family_.name = name;
    family_.type = type;
    family_.help = help;
  }
  void add(Labels labels, double value) {
    prometheus::ClientMetric sample;
    sample.label = std::move(labels);
    sample.gauge.value = value;  // the family's type says which of the two is read
    sample.counter.value = value;
    family_.metric.push_back(std::move(sample));
  }
  /** {"counts":[…],"sum":s} of the engine's status. */
  void add_histogram(Labels labels, const Json& histogram, std::span<const double> bounds) {
    prometheus::ClientMetric sample;
    sample.label = std::move(labels);
    std::uint64_t cumulated = 0;
    for (std::size_t i = 0; i <= bounds.size(); i++) {
      cumulated += static_cast<std::uint64_t>(histogram["counts"][i].integer_or(0));
      const bool last = i == bounds.size();
      sample.histogram.bucket.push_back({cumulated, last ? std::numeric_limits<double>::infinity() : bounds[i]});
    }
    sample.histogram.sample_count = cumulated;
    sample.histogram.sample_sum = histogram["sum"].number_or(0);
    family_.metric.push_back(std::move(sample));
  }
  prometheus::MetricFamily take() { return std::move(family_); }

 private:
  prometheus::MetricFamily family_;
};

constexpr auto kGauge = prometheus::MetricType::Gauge;
constexpr auto kCounter = prometheus::MetricType::Counter;
constexpr auto kHistogram = prometheus::MetricType::Histogram;

void add_counts(const std::string& nodeset, const NodeCounts& counts, Family& nodes) {
  const std::pair<const char*, std::int64_t> states[] = {
      {"ready", counts.ready},
      {"powered_up", counts.powered_up},
      {"powering_up", counts.powering_up},
      {"powering_down", counts.powering_down},
      {"powered_down", counts.powered_down},
      {"allocated", counts.allocated},
      {"idle", counts.idle},
      {"draining", counts.draining},
      {"down", counts.down},
  };
  for (const auto& [state, count] : states) {
    nodes.add({{"nodeset", nodeset}, {"state", state}}, static_cast<double>(count));
  }
}

/** One sample for each member of an object of numbers. */
void add_members(const Json& object, const char* label, Family& family) {
  object.each([&](std::string_view key, const Json& value) {
    family.add({{label, std::string(key)}}, static_cast<double>(value.integer_or(0)));
  });
}

Family single(const char* name, prometheus::MetricType type, const char* help, const Json& value) {
  Family family(name, type, help);
  family.add({}, static_cast<double>(value.integer_or(0)));
  return family;
}

}  // namespace

std::string encode_engine_metrics(const Result<Json>& status) {
  Family up("slurm_k8s_engine_up", kGauge, "1 when the engine in slurmctld answers and has compared pods with nodes.");
  const bool ready = status.ok() && (*status)["ready"].boolean_or(false);
  up.add({}, ready ? 1 : 0);
  if (!status.ok()) return prometheus::TextSerializer().Serialize({up.take()});

  const Json& engine = *status;
  Family pods("slurm_k8s_engine_pods", kGauge, "Pods of nodes by state.");
  add_members(engine["pods"], "state", pods);
  Family failures("slurm_k8s_engine_node_failures_total", kCounter,
                  "Nodes that were set DOWN, since they couldn't come up or lost their pod, by cause.");
  add_members(engine["failures"], "cause", failures);
  Family steps("slurm_k8s_engine_resume_seconds", kHistogram,
               "Time from the resume of a node to each step of its pod.");
  engine["resume_steps"].each([&](std::string_view step, const Json& histogram) {
    steps.add_histogram({{"step", std::string(step)}}, histogram, Histogram::kBounds);
  });
  Family api("slurm_k8s_engine_api_request_seconds", kHistogram, "Time that the API server takes to answer, by verb.");
  engine["api_latency"].each([&](std::string_view verb, const Json& histogram) {
    api.add_histogram({{"verb", std::string(verb)}}, histogram, Histogram::kBounds);
  });
  Family locked("slurm_k8s_engine_locked_seconds", kHistogram, "Time that our calls have slurmctld's locks, by call.");
  engine["locked"].each([&](std::string_view call, const Json& histogram) {
    locked.add_histogram({{"call", std::string(call)}}, histogram, kLockBounds);
  });
  Family paused("slurm_k8s_engine_paused", kGauge, "1 while the API server has the engine wait (429, Retry-After).");
  paused.add({}, engine["paused"].boolean_or(false) ? 1 : 0);
  return prometheus::TextSerializer().Serialize(
      {up.take(), paused.take(), pods.take(), failures.take(), steps.take(), api.take(), locked.take(),
       single("slurm_k8s_engine_queue_depth", kGauge, "Nodes that wait for their next action.", engine["queue_depth"])
           .take(),
       single("slurm_k8s_engine_api_requests_in_flight", kGauge, "Requests to the API server under way.",
              engine["in_flight"])
           .take(),
       single("slurm_k8s_engine_held_nodes", kGauge, "Nodes held back after a failed start.", engine["held_nodes"])
           .take(),
       single("slurm_k8s_engine_protected_nodesets", kGauge, "NodeSets whose power-ups fail again and again.",
              engine["protected_nodesets"])
           .take(),
       single("slurm_k8s_engine_resumes_total", kCounter, "Nodes asked up.", engine["resumes"]).take(),
       single("slurm_k8s_engine_suspends_total", kCounter, "Nodes asked down.", engine["suspends"]).take(),
       single("slurm_k8s_engine_pods_created_total", kCounter, "Pods made.", engine["pods_created"]).take(),
       single("slurm_k8s_engine_pods_deleted_total", kCounter, "Pods deleted.", engine["pods_deleted"]).take(),
       single("slurm_k8s_engine_api_errors_total", kCounter, "Requests that the API server didn't carry out.",
              engine["api_errors"])
           .take(),
       single("slurm_k8s_engine_api_pauses_total", kCounter, "Times that the API server had the engine wait.",
              engine["api_pauses"])
           .take()});
}

std::string encode_leader_metric(bool leads) {
  Family leader("slurm_k8s_sidecar_leader", kGauge, "1 when this sidecar has the lease, and acts.");
  leader.add({}, leads ? 1 : 0);
  return prometheus::TextSerializer().Serialize({leader.take()});
}

std::string encode_metrics(const Reconciler& reconciler, const StatusWriter& writer, const std::string& version) {
  Family wanted("slurm_k8s_nodeset_spec_replicas", kGauge, "Nodes that the NodeSet asks for.");
  Family records("slurm_k8s_nodeset_replicas", kGauge, "Node records that Slurm has of the NodeSet.");
  Family nodes("slurm_k8s_nodeset_nodes", kGauge, "Node records by state; one may be counted in several states.");
  Family ready("slurm_k8s_nodeset_ready", kGauge, "1 when Slurm's node records are as the NodeSet says.");
  for (const auto& [name, known] : reconciler.nodesets()) {
    if (known.spec.ok()) wanted.add({{"nodeset", name}}, static_cast<double>(known.spec->replicas));
  }
  for (const auto& [name, state] : reconciler.states()) {
    records.add({{"nodeset", name}}, static_cast<double>(state.counts.total));
    ready.add({{"nodeset", name}}, state.ready ? 1 : 0);
    add_counts(name, state.counts, nodes);
  }

  Family requests("slurm_k8s_sidecar_slurm_requests_total", kCounter, "Requests to slurmctld by kind and result.");
  for (const auto& [request, count] : reconciler.requests()) {
    requests.add({{"request", request}, {"result", "ok"}}, static_cast<double>(count.ok));
    requests.add({{"request", request}, {"result", "error"}}, static_cast<double>(count.failed));
  }
  Family writes("slurm_k8s_sidecar_status_writes_total", kCounter, "Writes of a NodeSet's status by result.");
  writes.add({{"result", "ok"}}, static_cast<double>(writer.written()));
  writes.add({{"result", "error"}}, static_cast<double>(writer.failed()));
  Family build("slurm_k8s_sidecar_build_info", kGauge, "1, with the version as a label.");
  build.add({{"version", version}}, 1);

  return prometheus::TextSerializer().Serialize(
      {wanted.take(), records.take(), nodes.take(), ready.take(), requests.take(), writes.take(), build.take()});
}

}  // namespace slurmk8s
