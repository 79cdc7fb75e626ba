// SPDX-License-Identifier: GPL-2.0-or-later
// Features that a Kubernetes node gives, by an annotation, to the Slurm nodes whose pods are there. Pure; any thread.
//
// They begin with "k8s/" in Slurm: so those of the NodeSet, of its variants and of an administrator are never taken for
// ours, and nothing has to be remembered to take ours back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

inline constexpr const char* kAnnotationFeatures = "slurm-k8s.io/features";

struct MachineFeatures {
  std::vector<std::string> features;  ///< as in Slurm: "k8s/rack1"
  std::string wrong;                  ///< what of the annotation can't be used, and why; empty: nothing
  bool operator==(const MachineFeatures&) const = default;
};

/** From a Kubernetes node's metadata.annotations. The one of Slinky's slurm-operator counts where ours is absent. */
MachineFeatures decode_machine_features(const Json& annotations);

/** Whether a feature of a Slurm node is one that a machine gave. */
bool is_machine_feature(std::string_view feature);

}  // namespace slurmk8s
