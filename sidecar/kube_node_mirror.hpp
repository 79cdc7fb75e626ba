// SPDX-License-Identifier: GPL-2.0-or-later
// The mirror of Kubernetes nodes in Slurm: what happens to a Slurm node when the Kubernetes node of its pod is
// cordoned, tainted, not ready or gone. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "sidecar/kube_node_facts.hpp"
#include "slurm/reasons.hpp"
#include "slurm/records.hpp"
#include "sidecar/node_action.hpp"
#include "sidecar/pod_facts.hpp"

namespace slurmk8s {

struct KubeNodeStep {
  NodeAction::Kind kind;
  std::string reason;  ///< with drain and power_down: what is wrong with the Kubernetes node
};

/**
 * The next step for a node that stays in the NodeSet; empty: its Kubernetes node needs none.
 *  - cordoned, or tainted with what the NodeSet doesn't tolerate: drain, then power down when its jobs are over; the
 *    node then serves on another Kubernetes node;
 *  - not ready, or gone: drain until the Kubernetes node is ready; running jobs go on, since a silent kubelet says
 *    nothing about them;
 *  - ready again, or the pod no longer exists: undrain, if the drain is ours.
 *  - powered down, and `pin` is such a Kubernetes node, on which its pod would have to run: drain.
 * Nodes that others drained, and nodes that are powering up or down, stay as they are.
 * Reasons begin with kReasonKubeNode; only nodes with such a Reason are undrained.
 */
std::optional<KubeNodeStep> kube_node_step(const SlurmNode& node, const PodFacts* pod, const KubeNodes& kube_nodes,
                                           const Json& tolerations, const std::string& pin = {});

}  // namespace slurmk8s
