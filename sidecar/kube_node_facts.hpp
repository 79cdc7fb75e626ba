// SPDX-License-Identifier: GPL-2.0-or-later
// KubeNodeFacts: what the sidecar knows of a Kubernetes node. Values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "sidecar/allocatable.hpp"
#include "sidecar/kube_node_features.hpp"

namespace slurmk8s {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const Taint&) const = default;
};

/** A Kubernetes node as the API server last showed it. */
struct KubeNodeFacts {
  bool cordoned = false;  ///< spec.unschedulable
  bool ready = true;
  std::string why_not_ready;  ///< the condition's reason, such as KubeletNotReady; empty when ready
  /** NoSchedule and NoExecute taints without Kubernetes' own (node.kubernetes.io/…). */
  std::vector<Taint> taints;
  std::map<std::string, std::string, std::less<>> labels;
  KubeNodeFeatures features = {};  ///< of the Slurm nodes that are there
  std::string topology = {};       ///< of the Slurm nodes there; empty: that of their definition
  Resources allocatable = {};
  bool operator==(const KubeNodeFacts&) const = default;
};

/** All Kubernetes nodes by name. */
using KubeNodes = std::map<std::string, KubeNodeFacts, std::less<>>;

KubeNodeFacts decode_kube_node_facts(const Json& object);

/** Whether one of `tolerations`, as a pod's spec has them, tolerates the taint. */
bool is_tolerated(const Taint& taint, const Json& tolerations);
/** The first taint that none of `tolerations` tolerates; null: none. */
const Taint* find_untolerated(const KubeNodeFacts& kube_node, const Json& tolerations);

}  // namespace slurmk8s
