// SPDX-License-Identifier: GPL-2.0-or-later
// Topology that a Kubernetes node gives, by an annotation, to the Slurm nodes whose pods are there. Pure; any thread.
//
// slurmctld puts a node's topology back to that of its definition when it is powered down, so that nothing has to be
// taken back here.
#pragma once

#include <string>

#include "slurm/slurm.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/**
 * From a Kubernetes node's metadata.annotations, as `scontrol update topology=` takes it: "default:rack1"; empty: none.
 * The one of Slinky's slurm-operator counts where ours is absent.
 */
std::string decode_machine_topology(const Json& annotations);

/** Whether a node that is on a machine with the topology `wanted` (empty: none) is to be given it now. */
bool needs_topology(const SlurmNode& node, const std::string& wanted);

}  // namespace slurmk8s
