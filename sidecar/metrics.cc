// SPDX-License-Identifier: GPL-2.0-or-later
// encode_metrics(): families of samples, put into text by prometheus-cpp.
#include "metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

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
  prometheus::MetricFamily take() { return std::move(family_); }

 private:
  prometheus::MetricFamily family_;
};

constexpr auto kGauge = prometheus::MetricType::Gauge;
constexpr auto kCounter = prometheus::MetricType::Counter;

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

}  // namespace

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

  return prometheus::TextSerializer().Serialize({wanted.take(), records.take(), nodes.take(), ready.take(),
                                                 requests.take(), writes.take(), build.take()});
}

}  // namespace slurmk8s
