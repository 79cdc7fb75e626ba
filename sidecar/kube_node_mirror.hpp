// SPDX-License-Identifier: GPL-2.0-or-later
// The mirror of Kubernetes nodes in Slurm: what happens to a node whose pod is on a machine that is to be emptied, or
// that is silent or gone. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "sidecar/kube_node_facts.hpp"
#include "slurm/reasons.hpp"
#include "slurm/slurm.hpp"
#include "sidecar/node_action.hpp"
#include "sidecar/pod_facts.hpp"

namespace slurmk8s {

/** Beginning of the Reasons of nodes that we drain for their machine; only nodes with this are undrained for it. */
inline constexpr std::string_view kMachineReason = kReasonMachine;

struct MachineStep {
  NodeAction::Kind kind;
  std::string reason;  ///< with drain and power_down: what is the matter with the machine
};

/**
 * The next step for a node that is wanted; empty: nothing is to be done for its machine's sake.
 *  - cordoned, or tainted with what the NodeSet doesn't tolerate: it takes no further job, and is powered down when its
 *    jobs are over; the record then serves on another machine;
 *  - not ready, or gone: it takes no further job until the machine is well; what runs goes on, since a silent kubelet
 *    says nothing about the jobs;
 *  - well again, or the pod isn't there any more: our drain is taken back.
 *  - powered down, and `pin` is such a machine, to which its pod would have to go: it takes no job either.
 * A node that somebody else drained, or that is coming up or going down, is left alone.
 */
std::optional<MachineStep> machine_step(const SlurmNode& node, const PodFacts* pod, const Machines& machines,
                                        const Json& tolerations, const std::string& pin = {});

}  // namespace slurmk8s
