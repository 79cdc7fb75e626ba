// SPDX-License-Identifier: GPL-2.0-or-later
// machine_step(): from a machine's state to a node's.
#include "sidecar/kube_node_mirror.hpp"

#include "sidecar/node_state.hpp"

namespace slurmk8s {
namespace {

using Kind = NodeAction::Kind;

struct Trouble {
  bool is_emptied;  ///< it will run what is there, and nothing new
  std::string what;
};

std::optional<Trouble> find_trouble(const std::string& name, const Machines& machines, const Json& tolerations) {
  const auto found = machines.find(name);
  if (found == machines.end()) return Trouble{false, "is gone"};
  const MachineFacts& machine = found->second;
  if (machine.cordoned) return Trouble{true, "is cordoned"};
  if (const Taint* taint = find_untolerated(machine, tolerations)) return Trouble{true, "has the taint " + taint->key};
  if (!machine.ready) return Trouble{false, "is not ready: " + machine.why_not_ready};
  return std::nullopt;
}

bool is_drained_for_machine(const SlurmNode& node) {
  return node.draining && is_drain_reason(node.reason, kMachineReason);
}

}  // namespace

std::optional<MachineStep> machine_step(const SlurmNode& node, const PodFacts* pod, const Machines& machines,
                                        const Json& tolerations, const std::string& pin) {
  const bool ours = is_drained_for_machine(node);
  if (node.going_down() || is_starting(node) || (node.draining && !ours)) return std::nullopt;
  const bool is_there = pod && !pod->machine.empty() && !node.powered_down;
  const std::string& machine = is_there ? pod->machine : pin;
  std::optional<Trouble> trouble;
  if (!machine.empty()) trouble = find_trouble(machine, machines, tolerations);
  if (!trouble) return ours ? std::optional(MachineStep{Kind::undrain, {}}) : std::nullopt;
  if (is_down(node) || node.base == SlurmNode::Base::unknown) return std::nullopt;  // the engine sees to it
  const std::string reason = std::string(kMachineReason) + machine + " " + trouble->what;
  if (is_there && trouble->is_emptied && is_idle(node) && !node.reserved) return MachineStep{Kind::power_down, reason};
  if (ours) return std::nullopt;
  return MachineStep{Kind::drain, reason};
}

}  // namespace slurmk8s
