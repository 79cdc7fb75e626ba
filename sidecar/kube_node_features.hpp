// SPDX-License-Identifier: GPL-2.0-or-later
// Features that a Kubernetes node gives, by an annotation, to the Slurm nodes whose pods are there. Pure; any thread.
//
// They begin with "k8s/" in Slurm: so those of the NodeSet, of its variants and of an administrator are never taken for
// ours, and ours can be removed without a list of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

inline constexpr const char* kAnnotationFeatures = "slurm-k8s.io/features";

struct KubeNodeFeatures {
  std::vector<std::string> features;  ///< as in Slurm: "k8s/rack1"
  std::string wrong;                  ///< the invalid part of the annotation, and why; empty: none
  bool operator==(const KubeNodeFeatures&) const = default;
};

/** From a Kubernetes node's metadata.annotations. Without ours, Slinky's annotation counts. */
KubeNodeFeatures decode_kube_node_features(const Json& annotations);

/** Whether a feature of a Slurm node is one that a Kubernetes node gave. */
bool is_kube_node_feature(std::string_view feature);

}  // namespace slurmk8s
