// SPDX-License-Identifier: GPL-2.0-or-later
// The pod of a node: defaults, overlaid by the NodeSet's template, overlaid by spec.slurmd. Pure; any thread.
#pragma once

#include <string>

#include "nodeset/nodeset.hpp"
#include "settings/options.hpp"
#include "nodeset/pod_order.hpp"

namespace slurmk8s {

struct PodIdentity {
  std::string node;     ///< Slurm's node name, which is the pod's
  std::string request;  ///< id of the resume request
  std::string jobs;     ///< "12,13": shown on the pod; may be empty
  PodOrder order = {};
};

/**
 * Builds the pod to create. The fields that make it the node's pod (name, labels, hostname, restartPolicy, no service
 * account token, slurmd's identity in the environment) are written last: no template can change them.
 */
Json build_pod(const NodeSet& nodeset, const PodIdentity& identity, const Options& options);

/**
 * A merge patch of a pod's metadata that protects it from evictions while its node is in use (`busy`), or removes the
 * protection. Leaves out annotations of the NodeSet's template: these are the administrator's.
 */
Json busy_marks(const NodeSet& nodeset, bool busy);

}  // namespace slurmk8s
