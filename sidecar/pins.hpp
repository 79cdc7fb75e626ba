// SPDX-License-Identifier: GPL-2.0-or-later
// pinToNode: on which Kubernetes node each node of a NodeSet was last, and is to be again. Pure; any thread.
#pragma once

#include <map>
#include <string_view>

#include "nodeset/nodeset.hpp"
#include "slurm/records.hpp"
#include "sidecar/kube_node_facts.hpp"
#include "sidecar/pod_facts.hpp"

namespace slurmk8s {

/**
 * What status.ordinalToNode is to say, after it said `before`. A node is pinned to where its pod is. Its pin stays when
 * the pod goes, until the node is scaled in, or its Kubernetes node is gone or isn't selected by the template any more.
 * While the Kubernetes nodes aren't known (null) nothing changes, since nobody could tell when to take a pin away.
 * `records`: those of the NodeSet by name.
 */
Pins plan_pins(const NodeSet& nodeset, const Pins& before, const std::map<std::string_view, const SlurmNode*>& records,
               const Pods& pods, const KubeNodes* kube_nodes);

}  // namespace slurmk8s
