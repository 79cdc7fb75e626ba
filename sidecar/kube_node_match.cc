// SPDX-License-Identifier: GPL-2.0-or-later
// nodeSelector, nodeAffinity and tolerations of a pod against labels and taints of a Kubernetes node.
#include "sidecar/kube_node_match.hpp"

#include <optional>
#include <vector>

#include "base/strings.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

using Labels = std::map<std::string, std::string, std::less<>>;

bool has_value(const Json& values, std::string_view value) {
  for (std::size_t i = 0; i < values.size(); i++) {
    if (values[i].text() == value) return true;
  }
  return false;
}

/** An expression {key, operator, values}. What the API server would refuse holds for nobody. */
bool holds(const Json& expression, const Labels& labels) {
  const auto found = labels.find(expression["key"].text());
  const bool is_there = found != labels.end();
  const std::string_view op = expression["operator"].text();
  const Json values = expression["values"];
  if (op == "In") return is_there && has_value(values, found->second);
  if (op == "NotIn") return !is_there || !has_value(values, found->second);
  if (op == "Exists") return is_there;
  if (op == "DoesNotExist") return !is_there;
  if (op != "Gt" && op != "Lt") return false;
  const std::optional<std::int64_t> label = is_there ? parse_int(found->second) : std::nullopt;
  const std::optional<std::int64_t> bound = parse_int(values[0].text());
  if (!label || !bound) return false;
  return op == "Gt" ? *label > *bound : *label < *bound;
}

bool all_hold(const Json& expressions, const Labels& labels) {
  for (std::size_t i = 0; i < expressions.size(); i++) {
    if (!holds(expressions[i], labels)) return false;
  }
  return true;
}

}  // namespace

bool is_selected(const std::string& name, const KubeNodeFacts& kube_node, const Json& pod_spec) {
  bool selected = true;
  pod_spec["nodeSelector"].each([&](std::string_view key, const Json& value) {
    const auto found = kube_node.labels.find(key);
    selected &= found != kube_node.labels.end() && found->second == value.text();
  });
  const Json required = pod_spec.at({"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  if (!selected || required.is_null()) return selected;
  const Json terms = required["nodeSelectorTerms"];
  for (std::size_t i = 0; i < terms.size(); i++) {
    const Json labels = terms[i]["matchExpressions"];
    const Json fields = terms[i]["matchFields"];
    if (labels.size() + fields.size() == 0) continue;  // a term of nothing selects nothing
    if (all_hold(labels, kube_node.labels) && all_hold(fields, {{"metadata.name", name}})) return true;
  }
  return false;
}

DaemonNodes choose_daemon_nodes(const NodeSet& nodeset, const KubeNodes& kube_nodes) {
  DaemonNodes nodes;
  const std::vector<Toleration> tolerations = decode_tolerations(nodeset.pod_spec["tolerations"]);
  for (const auto& [name, kube_node] : kube_nodes) {
    if (kube_node.cordoned || find_untolerated(kube_node.taints, tolerations)) continue;
    if (!is_selected(name, kube_node, nodeset.pod_spec)) continue;
    std::string node = daemon_node_name(nodeset, name);
    if (node.size() > kMaxLabel) {
      nodes.too_long.push_back(std::move(node));
    } else {
      nodes.wanted.emplace(std::move(node), kube_node.ready);
    }
  }
  return nodes;
}

}  // namespace slurmk8s
