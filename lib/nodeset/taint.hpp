// SPDX-License-Identifier: GPL-2.0-or-later
// Taint: what keeps pods away from a Kubernetes node, and tolerations of pods, as kube-scheduler compares them. Pure;
// values; any thread.
#pragma once

#include <string>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key;      ///< empty: of any taint, where `exists`
  std::string value;    ///< without `exists`
  std::string effect;   ///< empty: any
  bool exists = false;  ///< operator Exists; otherwise Equal
  bool operator==(const Toleration&) const = default;
};

/**
 * NoSchedule and NoExecute taints of a Node object, without Kubernetes' own (node.kubernetes.io/…): these say what
 * spec.unschedulable and the conditions say too, or are temporary.
 */
std::vector<Taint> decode_taints(const Json& kube_node);

/** `tolerations` as a pod's spec has them, without those of Kubernetes' own taints. */
std::vector<Toleration> decode_tolerations(const Json& tolerations);

bool is_tolerated(const Taint& taint, const std::vector<Toleration>& tolerations);

/** The first taint that none of `tolerations` tolerates; null: none. Part of `taints`. */
const Taint* find_untolerated(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations);

}  // namespace slurmk8s
