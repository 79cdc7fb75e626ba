// SPDX-License-Identifier: GPL-2.0-or-later
// The pod of a node: our part, then the NodeSet's template over it, then its slurmd overlay. Pure; any thread.
#pragma once

#include <string>

#include "nodeset/nodeset.hpp"
#include "settings/options.hpp"
#include "nodeset/pod_order.hpp"

namespace slurmk8s {

struct PodIdentity {
  std::string node;     ///< Slurm's node name, which is the pod's
  std::string request;  ///< id of the resume request
  std::string jobs;     ///< "12,13": for people who look at the pod; may be empty
  PodOrder order = {};
};

/**
 * Builds the pod to POST. What makes it the node's pod (name, labels, hostname, restartPolicy, no service account
 * token, the environment that slurmd's identity comes from) is written last, so that no template can change it.
 */
Json build_pod(const NodeSet& nodeset, const PodIdentity& identity, const Options& options);

/**
 * The part of a pod's metadata that keeps evictions off it while its node is in use (`busy`), or takes that back: as a
 * merge patch. An annotation that the NodeSet's template has is the administrator's, and isn't in it.
 */
Json busy_marks(const NodeSet& nodeset, bool busy);

}  // namespace slurmk8s
