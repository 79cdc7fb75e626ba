// SPDX-License-Identifier: GPL-2.0-or-later
// PodFacts: what the sidecar knows of the pod of a node. It only reads pods: the engine is who writes them. Values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "json/json.hpp"

namespace slurmk8s {

/** A pod as the API server last showed it. */
struct PodFacts {
  enum class Phase { pending, running, ended };
  std::string uid;
  Phase phase = Phase::pending;
  bool deleting = false;           ///< it has a deletionTimestamp
  std::string kube_node;           ///< the Kubernetes node that it is on; empty: none yet
  std::string template_hash;       ///< hash_template() of the NodeSet that it was made from; empty: not known
  std::string variant = {};        ///< of the template; empty: none
  std::int32_t deletion_cost = 0;  ///< controller.kubernetes.io/pod-deletion-cost; what isn't a number counts as 0
  bool operator==(const PodFacts&) const = default;
};

/** The pods of nodes by the node's name, which is the pod's. A node that isn't in it has no pod. */
using Pods = std::map<std::string, PodFacts, std::less<>>;

PodFacts decode_pod_facts(const Json& object);

}  // namespace slurmk8s
