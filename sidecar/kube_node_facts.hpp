// SPDX-License-Identifier: GPL-2.0-or-later
// KubeNodeFacts: what the sidecar knows of a Kubernetes node. Values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "nodeset/taint.hpp"
#include "sidecar/allocatable.hpp"
#include "sidecar/kube_node_features.hpp"

namespace slurmk8s {

/** A Kubernetes node as the API server last showed it. */
struct KubeNodeFacts {
  bool cordoned = false;  ///< spec.unschedulable
  bool ready = true;
  std::string why_not_ready;  ///< the condition's reason, such as KubeletNotReady; empty when ready
  std::vector<Taint> taints;  ///< decode_taints()
  std::map<std::string, std::string, std::less<>> labels;
  KubeNodeFeatures features = {};  ///< of the Slurm nodes that are there
  std::string topology = {};       ///< of the Slurm nodes there; empty: that of their definition
  Resources allocatable = {};
  bool operator==(const KubeNodeFacts&) const = default;
};

/** All Kubernetes nodes by name. */
using KubeNodes = std::map<std::string, KubeNodeFacts, std::less<>>;

KubeNodeFacts decode_kube_node_facts(const Json& object);

}  // namespace slurmk8s
