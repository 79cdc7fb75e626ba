// SPDX-License-Identifier: GPL-2.0-or-later
// A Kubernetes node's object, reduced to what decides whether its pods may take further jobs.
#include "sidecar/kube_node_facts.hpp"

#include "daemon/condition.hpp"
#include "nodeset/kube_node_topology.hpp"

namespace slurmk8s {

KubeNodeFacts decode_kube_node_facts(const Json& object) {
  KubeNodeFacts facts;
  facts.cordoned = object.at({"spec", "unschedulable"}).boolean_or(false);
  const Json ready = find_condition(object["status"], "Ready");
  facts.ready = ready.is_null() || ready["status"].text() == "True";
  if (!facts.ready) facts.why_not_ready = ready["reason"].text();
  facts.taints = decode_taints(object);
  object.at({"metadata", "labels"}).each([&](std::string_view key, const Json& value) {
    facts.labels.emplace(key, value.text());
  });
  const Json annotations = object.at({"metadata", "annotations"});
  facts.features = decode_kube_node_features(annotations);
  facts.topology = decode_kube_node_topology(annotations);
  facts.allocatable = decode_allocatable(object);
  return facts;
}

}  // namespace slurmk8s
