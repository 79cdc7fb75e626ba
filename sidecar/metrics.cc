// SPDX-License-Identifier: GPL-2.0-or-later
// encode_metrics(): families of samples, put into text by prometheus-cpp.
#include "sidecar/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace slurmk8s {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

constexpr auto kGauge = prometheus::MetricType::Gauge;
constexpr auto kCounter = prometheus::MetricType::Counter;
constexpr auto kHistogram = prometheus::MetricType::Histogram;

/** One metric with all its samples. */
class Family {
 public:
  Family(std::string_view name, prometheus::MetricType type, std::string_view help) {
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
  /** A sample of the engine's status (engine/engine_metrics.hpp); one of another form is skipped. */
  void add(Labels labels, const Json& sample) {
    if (family_.type == kHistogram) return add_histogram(std::move(labels), sample);
    if (sample.is_number()) add(std::move(labels), sample.number_or(0));
  }
  prometheus::MetricFamily take() { return std::move(family_); }

 private:
  void add_histogram(Labels labels, const Json& histogram) {
    const Json bounds = histogram["bounds"];
    const Json counts = histogram["counts"];
    if (counts.size() != bounds.size() + 1) return;
    prometheus::ClientMetric sample;
    sample.label = std::move(labels);
    std::uint64_t cumulated = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      cumulated += static_cast<std::uint64_t>(counts[i].integer_or(0));
      sample.histogram.bucket.push_back({cumulated, bounds[i].number_or(std::numeric_limits<double>::infinity())});
    }
    sample.histogram.sample_count = cumulated;
    sample.histogram.sample_sum = histogram["sum"].number_or(0);
    family_.metric.push_back(std::move(sample));
  }

  prometheus::MetricFamily family_;
};

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

/** Empty: unknown, of a later engine. */
std::optional<prometheus::MetricType> parse_type(std::string_view name) {
  if (name == "gauge") return kGauge;
  if (name == "counter") return kCounter;
  if (name == "histogram") return kHistogram;
  return std::nullopt;
}

/** One of the engine's metrics; empty: this build cannot publish it. */
std::optional<prometheus::MetricFamily> decode_metric(const Json& metric) {
  const auto type = parse_type(metric["type"].text());
  const std::string_view name = metric["name"].text();
  if (!type || name.empty()) return std::nullopt;
  Family family(name, *type, metric["help"].text());
  const std::string label(metric["label"].text());
  if (label.empty()) {
    family.add({}, metric["value"]);
  } else {
    metric["value"].each([&](std::string_view value, const Json& sample) {
      family.add({{label, std::string(value)}}, sample);
    });
  }
  return family.take();
}

/** What the sidecar's metrics are about. */
struct Source {
  const Reconciler& reconciler;
  const StatusWriter& writer;
  const std::string& version;
};

void add_spec_replicas(const Source& source, Family& family) {
  for (const auto& [name, known] : source.reconciler.nodesets()) {
    if (known.spec.ok()) family.add({{"nodeset", name}}, static_cast<double>(known.spec->replicas));
  }
}

void add_replicas(const Source& source, Family& family) {
  for (const auto& [name, state] : source.reconciler.states()) {
    family.add({{"nodeset", name}}, static_cast<double>(state.counts.total));
  }
}

void add_nodes(const Source& source, Family& family) {
  for (const auto& [name, state] : source.reconciler.states()) add_counts(name, state.counts, family);
}

void add_ready(const Source& source, Family& family) {
  for (const auto& [name, state] : source.reconciler.states()) family.add({{"nodeset", name}}, state.ready ? 1.0 : 0.0);
}

void add_slurm_requests(const Source& source, Family& family) {
  for (const auto& [request, count] : source.reconciler.requests()) {
    family.add({{"request", request}, {"result", "ok"}}, static_cast<double>(count.ok));
    family.add({{"request", request}, {"result", "error"}}, static_cast<double>(count.failed));
  }
}

void add_status_writes(const Source& source, Family& family) {
  family.add({{"result", "ok"}}, static_cast<double>(source.writer.written()));
  family.add({{"result", "error"}}, static_cast<double>(source.writer.failed()));
}

void add_build_info(const Source& source, Family& family) { family.add({{"version", source.version}}, 1.0); }

struct Metric {
  const char* name;
  prometheus::MetricType type;
  const char* help;
  void (*add)(const Source& source, Family& family);
};

/** The sidecar's own metrics, in the order of /metrics. */
constexpr Metric kMetrics[] = {
    {"slurm_k8s_nodeset_spec_replicas", kGauge, "Nodes that the NodeSet asks for.", add_spec_replicas},
    {"slurm_k8s_nodeset_replicas", kGauge, "Node records that Slurm has of the NodeSet.", add_replicas},
    {"slurm_k8s_nodeset_nodes", kGauge, "Node records by state; one may be counted in several states.", add_nodes},
    {"slurm_k8s_nodeset_ready", kGauge, "1 when Slurm's node records are as the NodeSet says.", add_ready},
    {"slurm_k8s_sidecar_slurm_requests_total", kCounter, "Requests to slurmctld by kind and result.",
     add_slurm_requests},
    {"slurm_k8s_sidecar_status_writes_total", kCounter, "Writes of a NodeSet's status by result.", add_status_writes},
    {"slurm_k8s_sidecar_build_info", kGauge, "1, with the version as a label.", add_build_info},
};

}  // namespace

std::string encode_engine_metrics(const Result<Json>& status) {
  // Ours, since it also says that there is no engine. All others are in the engine's answer.
  Family up("slurm_k8s_engine_up", kGauge, "1 when the engine in slurmctld answers and has compared pods with nodes.");
  up.add({}, status.ok() && (*status)["ready"].boolean_or(false) ? 1.0 : 0.0);
  std::vector<prometheus::MetricFamily> families{up.take()};
  if (status.ok()) {
    (*status)["metrics"].each([&](const Json& metric) {
      if (auto family = decode_metric(metric)) families.push_back(std::move(*family));
    });
  }
  return prometheus::TextSerializer().Serialize(families);
}

std::string encode_leader_metric(bool leads) {
  Family leader("slurm_k8s_sidecar_leader", kGauge, "1 when this sidecar has the lease, and acts.");
  leader.add({}, leads ? 1.0 : 0.0);
  return prometheus::TextSerializer().Serialize({leader.take()});
}

std::string encode_config_metrics(const ConfigCounts& counts) {
  if (counts.told.empty()) return {};
  Family applied("slurm_k8s_sidecar_config_applied", kGauge,
                 "1 when slurmctld runs with the configuration that Kubernetes has.");
  applied.add({}, counts.is_applied ? 1.0 : 0.0);
  Family answers("slurm_k8s_sidecar_config_answers_total", kCounter,
                 "Answers to configurations, by the reason of the condition ConfigApplied.");
  for (const auto& [reason, count] : counts.told) answers.add({{"reason", reason}}, static_cast<double>(count));
  Family time("slurm_k8s_sidecar_config_applied_timestamp_seconds", kGauge,
              "When a configuration was last called applied, in seconds since 1970.");
  const std::chrono::duration<double> at = counts.applied_at.time_since_epoch();
  if (at.count() > 0) time.add({}, at.count());
  return prometheus::TextSerializer().Serialize({applied.take(), answers.take(), time.take()});
}

std::string encode_state_reads(const StateReads& reads) {
  Family count("slurm_k8s_sidecar_state_reads_total", kCounter,
               "Requests for Slurm's own state, of metrics, by result.");
  count.add({{"result", "ok"}}, static_cast<double>(reads.answered));
  count.add({{"result", "error"}}, static_cast<double>(reads.failed));
  Family age("slurm_k8s_sidecar_state_age_seconds", kGauge, "How old Slurm's own state in the metrics is.");
  if (reads.age) age.add({}, std::chrono::duration<double>(*reads.age).count());
  return prometheus::TextSerializer().Serialize({count.take(), age.take()});
}

std::string encode_metrics(const Reconciler& reconciler, const StatusWriter& writer, const std::string& version) {
  std::vector<prometheus::MetricFamily> families;
  for (const Metric& metric : kMetrics) {
    Family family(metric.name, metric.type, metric.help);
    metric.add({reconciler, writer, version}, family);
    families.push_back(family.take());
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace slurmk8s
