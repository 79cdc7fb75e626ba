// SPDX-License-Identifier: GPL-2.0-or-later
// encode_bridge_metrics(): a table of gauges, put into text by prometheus-cpp.
#include "bridge/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <vector>

namespace slurmk8s {
namespace {

struct Sample {
  const char* name;
  const char* help;
  double value;
  prometheus::ClientMetric::Label label;
};

prometheus::MetricFamily make_family(const Sample& sample) {
  prometheus::ClientMetric metric;
  if (!sample.label.name.empty()) metric.label.push_back(sample.label);
  metric.gauge.value = sample.value;
  prometheus::MetricFamily family;
  family.name = sample.name;
  family.help = sample.help;
  family.type = prometheus::MetricType::Gauge;
  family.metric.push_back(std::move(metric));
  return family;
}

}  // namespace

std::string encode_bridge_metrics(const BridgeCounts& counts, std::size_t gangs, const std::string& version) {
  std::vector<Sample> samples = {
      {"slurm_k8s_bridge_info", "Version of the bridge.", 1, {"version", version}},
      {"slurm_k8s_bridge_pods_waiting", "Pods that are not bound.", static_cast<double>(counts.waiting), {}},
      {"slurm_k8s_bridge_pods_bound", "Pods that are bound and have not ended.", static_cast<double>(counts.bound), {}},
      {"slurm_k8s_bridge_pods_overdue",
       "Pods that are still Terminating a minute after their grace period.",
       static_cast<double>(counts.overdue),
       {}},
      {"slurm_k8s_bridge_jobs", "Slurm jobs of pods, and those to be submitted.", static_cast<double>(gangs), {}},
      {"slurm_k8s_bridge_refused", "Workloads that are refused.", static_cast<double>(counts.refused), {}},
      {"slurm_k8s_bridge_jobs_unknown",
       "Jobs of running pods that slurmctld does not know.",
       static_cast<double>(counts.unknown),
       {}},
  };
  if (counts.has_engine) {
    samples.push_back({"slurm_k8s_bridge_engine_up",
                       "1 while the engine in slurmctld tells the bridge about its jobs.",
                       *counts.has_engine ? 1.0 : 0.0,
                       {}});
  }
  std::vector<prometheus::MetricFamily> families;
  families.reserve(samples.size());
  for (const Sample& sample : samples) families.push_back(make_family(sample));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace slurmk8s
