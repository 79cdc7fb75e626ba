// SPDX-License-Identifier: GPL-2.0-or-later
// Features that a Kubernetes node gives, by an annotation, to the Slurm nodes whose pods are there. Pure; any thread.
//
// They begin with "k8s/" in Slurm: so those of the NodeSet, of its variants and of an administrator are never taken for
// ours, and nothing has to be remembered to take ours back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/slurm.hpp"
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

/** What is to be changed of a record for it to have the features of its machine; empty: nothing. Null: it is on none. */
std::optional<SlurmNodeUpdate> features_change(const SlurmNode& node, const MachineFeatures* machine);

}  // namespace slurmk8s
