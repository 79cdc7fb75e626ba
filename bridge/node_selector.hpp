// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSelector: which Kubernetes nodes a pod selects, by spec.nodeSelector and the required nodeAffinity, and which can
// mount a volume. Pure; values; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "json/json.hpp"
#include "nodeset/taint.hpp"

namespace slurmk8s {

using NodeLabels = std::map<std::string, std::string>;

/** What decides which pods may run on a Kubernetes node. */
struct KubeNodePlace {
  NodeLabels labels;
  std::vector<Taint> taints;  ///< decode_taints()
};

/** Kubernetes nodes by name. */
using KubeNodePlaces = std::map<std::string, KubeNodePlace>;

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
  /** Whether it selects each node that has these labels, whatever its other labels and its name are. */
  bool selects_all_with(const NodeLabels& known) const;

 private:
  using Fits = std::function<bool(const NodeRequirement& requirement)>;
  bool takes(const NodeLabels& present, const Fits& fits) const;
};

/** Bytes of a selector's texts, with what each takes besides: the bridge has those of all pods in memory. */
inline constexpr std::size_t kMaxSelectorBytes = 65536;

/** Of a pod's spec. Error (invalid) names the field: "spec.affinity.nodeAffinity: Too long". */
Result<NodeSelector> decode_node_selector(const Json& spec);

/** Where a PersistentVolume of this spec can be mounted, by its nodeAffinity. Error (invalid) names the field. */
Result<NodeSelector> decode_volume_affinity(const Json& spec);

}  // namespace slurmk8s
