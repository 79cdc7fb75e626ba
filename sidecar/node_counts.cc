// SPDX-License-Identifier: GPL-2.0-or-later
// Counting node records by state.
#include "sidecar/node_counts.hpp"

#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"

namespace slurmk8s {

void NodeCounts::add(const SlurmNode& node) {
  total++;
  powered_up += is_powered_up(node);
  powering_up += node.powering_up;
  powered_down += node.powered_down;
  powering_down += node.going_down() && !node.powered_down && !node.powering_up;
  allocated += is_busy(node);
  idle += is_idle(node);
  draining += node.draining;
  down += is_down(node);
  ready += is_schedulable(node);
}

void PowerUpFailures::add(const SlurmNode& node) {
  const std::string_view reason = node.reason;
  const bool protects = is_drained_for_protection(node);
  if (!protects && !is_given_up(node)) return;
  is_protected |= protects;
  if (!protects) nodes.push_back(node.name);
  if (cause.empty()) cause = cause_of(reason);
}

}  // namespace slurmk8s
