// SPDX-License-Identifier: GPL-2.0-or-later
// kube_node_step(): from a Kubernetes node's state to a node's.
#include "sidecar/kube_node_mirror.hpp"

#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"

namespace slurmk8s {
namespace {

using Kind = NodeAction::Kind;

struct Trouble {
  bool is_emptied;  ///< jobs may end; no new ones start
  std::string what;
};

std::optional<Trouble> find_trouble(const std::string& name, const KubeNodes& kube_nodes, const Json& tolerations) {
  const auto found = kube_nodes.find(name);
  if (found == kube_nodes.end()) return Trouble{false, "is gone"};
  const KubeNodeFacts& kube_node = found->second;
  if (kube_node.cordoned) return Trouble{true, "is cordoned"};
  if (!kube_node.taints.empty()) {
    const Taint* const taint = find_untolerated(kube_node.taints, decode_tolerations(tolerations));
    if (taint != nullptr) return Trouble{true, "has the taint " + taint->key};
  }
  if (!kube_node.ready) return Trouble{false, "is not ready: " + kube_node.why_not_ready};
  return std::nullopt;
}

}  // namespace

std::optional<KubeNodeStep> kube_node_step(const SlurmNode& node, const PodFacts* pod, const KubeNodes& kube_nodes,
                                           const Json& tolerations, const std::string& pin) {
  const bool ours = is_drained_for_kube_node(node);
  if (is_changing(node) || (node.draining && !ours)) return std::nullopt;
  const bool is_there = pod && !pod->kube_node.empty() && !node.powered_down;
  const std::string& kube_node = is_there ? pod->kube_node : pin;
  std::optional<Trouble> trouble;
  if (!kube_node.empty()) trouble = find_trouble(kube_node, kube_nodes, tolerations);
  if (!trouble) return ours ? std::optional(KubeNodeStep{Kind::undrain, {}}) : std::nullopt;
  if (is_down(node) || node.base == SlurmNode::Base::unknown) return std::nullopt;  // the engine handles it
  const std::string reason = std::string(kReasonKubeNode) + kube_node + " " + trouble->what;
  if (is_there && trouble->is_emptied && is_idle(node) && !node.reserved) return KubeNodeStep{Kind::power_down, reason};
  if (ours) return std::nullopt;
  return KubeNodeStep{Kind::drain, reason};
}

}  // namespace slurmk8s
