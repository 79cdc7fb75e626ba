// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSelector: which Kubernetes nodes a pod may run on, of spec.nodeSelector and the required nodeAffinity. Pure;
// values; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

using NodeLabels = std::map<std::string, std::string>;

/** Kubernetes nodes by name. */
using KubeNodeLabels = std::map<std::string, NodeLabels>;

/** One of matchExpressions, or of matchFields. */
struct NodeRequirement {
  bool is_field = false;  ///< about the node's name
  std::string key;
  std::string op;  ///< Kubernetes' word: In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values;
  bool operator==(const NodeRequirement&) const = default;
};

struct NodeSelector {
  NodeLabels labels;                                ///< all of them
  bool has_terms = false;                           ///< there is a required nodeAffinity
  std::vector<std::vector<NodeRequirement>> terms;  ///< one of them, with all of its requirements
  bool operator==(const NodeSelector&) const = default;

  /** It takes any node. */
  bool empty() const { return labels.empty() && !has_terms; }
  /** As kube-scheduler decides: a term without requirements takes no node. */
  bool selects(const std::string& node, const NodeLabels& labels_of_node) const;
};

/** Of a pod's spec. */
NodeSelector decode_node_selector(const Json& spec);

}  // namespace slurmk8s
