// SPDX-License-Identifier: GPL-2.0-or-later
// Topology that a Kubernetes node gives, by an annotation, to the Slurm nodes whose pods are there. Pure; any thread.
//
// slurmctld resets a node's topology to its definition at power down, so nothing is undone here.
#pragma once

#include <string>

#include "slurm/records.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/**
 * From a Kubernetes node's metadata.annotations, as `scontrol update topology=` takes it: "default:rack1"; empty: none.
 * Without ours, the annotation of Slinky's slurm-operator counts.
 */
std::string decode_kube_node_topology(const Json& annotations);

/** Whether to set the topology `wanted` (of the node's Kubernetes node; empty: none) on the node now. */
bool needs_topology(const SlurmNode& node, const std::string& wanted);

}  // namespace slurmk8s
