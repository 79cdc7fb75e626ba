// SPDX-License-Identifier: GPL-2.0-or-later
// A pod object, reduced to what the plan of node records may depend on.
#include "sidecar/pod_facts.hpp"

#include <limits>
#include <optional>

#include "base/strings.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

// 32 bits, as in Kubernetes: there, a ReplicaSet's controller takes what it can't read as 0, too.
std::int32_t decode_deletion_cost(std::string_view text) {
  const std::optional<std::int64_t> cost = parse_int(text);
  const bool fits =
      cost && *cost >= std::numeric_limits<std::int32_t>::min() && *cost <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(*cost) : 0;
}

PodFacts::Phase decode_phase(std::string_view phase) {
  if (phase == "Running") return PodFacts::Phase::running;
  if (phase == "Failed" || phase == "Succeeded") return PodFacts::Phase::ended;
  return PodFacts::Phase::pending;
}

}  // namespace

PodFacts decode_pod_facts(const Json& object) {
  const Json metadata = object["metadata"];
  PodFacts facts;
  facts.uid = metadata["uid"].text();
  facts.phase = decode_phase(object.at({"status", "phase"}).text());
  facts.deleting = !metadata["deletionTimestamp"].is_null();
  facts.kube_node = object.at({"spec", "nodeName"}).text();
  facts.template_hash = metadata.at({"labels", kLabelTemplate}).text();
  facts.variant = metadata.at({"labels", kLabelVariant}).text();
  facts.deletion_cost = decode_deletion_cost(metadata.at({"annotations", kDeletionCost}).text());
  return facts;
}

}  // namespace slurmk8s
