// SPDX-License-Identifier: GPL-2.0-or-later
// MachineFacts: what the sidecar knows of a Kubernetes node, which we call a machine: "node" is Slurm's. Values.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "sidecar/kube_node_features.hpp"

namespace slurmk8s {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const Taint&) const = default;
};

/** A Kubernetes node as the API server last showed it. */
struct MachineFacts {
  bool cordoned = false;  ///< spec.unschedulable
  bool ready = true;
  std::string why_not_ready;  ///< the condition's reason, such as KubeletNotReady; empty when ready
  /** Those that keep pods away and that somebody set: not Kubernetes' own of cordoned, silent or overfull machines. */
  std::vector<Taint> taints;
  std::map<std::string, std::string, std::less<>> labels;
  MachineFeatures features = {};  ///< of the Slurm nodes that are there
  std::string topology = {};      ///< theirs, too; empty: that of their definition
  bool operator==(const MachineFacts&) const = default;
};

/** All Kubernetes nodes by name. */
using Machines = std::map<std::string, MachineFacts, std::less<>>;

MachineFacts decode_machine_facts(const Json& object);

/** Whether one of `tolerations`, as a pod's spec has them, tolerates the taint. */
bool is_tolerated(const Taint& taint, const Json& tolerations);
/** The first taint of a machine that none of them tolerates; null: there is none. */
const Taint* find_untolerated(const MachineFacts& machine, const Json& tolerations);

}  // namespace slurmk8s
