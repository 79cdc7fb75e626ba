// SPDX-License-Identifier: GPL-2.0-or-later
// A Kubernetes node's object, reduced to what decides whether its pods may take further jobs.
#include "sidecar/kube_node_facts.hpp"

#include "daemon/condition.hpp"
#include "nodeset/kube_node_topology.hpp"

namespace slurmk8s {
namespace {

/** Kubernetes' own taints: they say what spec.unschedulable and the conditions say too, or are temporary. */
constexpr std::string_view kOfKubernetes = "node.kubernetes.io/";

bool keeps_pods_away(const Taint& taint) { return taint.effect == "NoSchedule" || taint.effect == "NoExecute"; }

}  // namespace

KubeNodeFacts decode_kube_node_facts(const Json& object) {
  KubeNodeFacts facts;
  facts.cordoned = object.at({"spec", "unschedulable"}).boolean_or(false);
  const Json ready = find_condition(object["status"], "Ready");
  facts.ready = ready.is_null() || ready["status"].text() == "True";
  if (!facts.ready) facts.why_not_ready = ready["reason"].text();
  const Json taints = object.at({"spec", "taints"});
  for (std::size_t i = 0; i < taints.size(); i++) {
    Taint taint{std::string(taints[i]["key"].text()), std::string(taints[i]["value"].text()),
                std::string(taints[i]["effect"].text())};
    if (keeps_pods_away(taint) && !taint.key.starts_with(kOfKubernetes)) facts.taints.push_back(std::move(taint));
  }
  object.at({"metadata", "labels"}).each([&](std::string_view key, const Json& value) {
    facts.labels.emplace(key, value.text());
  });
  const Json annotations = object.at({"metadata", "annotations"});
  facts.features = decode_kube_node_features(annotations);
  facts.topology = decode_kube_node_topology(annotations);
  facts.allocatable = decode_allocatable(object);
  return facts;
}

// An empty key tolerates every key, an empty effect every effect; the operator is Equal unless it says Exists.
bool is_tolerated(const Taint& taint, const Json& tolerations) {
  for (std::size_t i = 0; i < tolerations.size(); i++) {
    const Json toleration = tolerations[i];
    const std::string_view key = toleration["key"].text();
    const std::string_view effect = toleration["effect"].text();
    const bool exists = toleration["operator"].text() == "Exists";
    if (!effect.empty() && effect != taint.effect) continue;
    if (key.empty() ? exists : key == taint.key && (exists || toleration["value"].text() == taint.value)) return true;
  }
  return false;
}

const Taint* find_untolerated(const KubeNodeFacts& kube_node, const Json& tolerations) {
  for (const Taint& taint : kube_node.taints) {
    if (!is_tolerated(taint, tolerations)) return &taint;
  }
  return nullptr;
}

}  // namespace slurmk8s
