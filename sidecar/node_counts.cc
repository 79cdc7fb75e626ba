// SPDX-License-Identifier: GPL-2.0-or-later
// Counting node records by state.
#include "sidecar/node_counts.hpp"

#include "engine/plan.hpp"
#include "slurm/reasons.hpp"
#include "sidecar/node_state.hpp"

namespace slurmk8s {

void NodeCounts::add(const SlurmNode& node) {
  const bool up = !node.powered_down && !node.powering_up && !node.going_down();
  total++;
  powered_up += up;
  powering_up += node.powering_up;
  powered_down += node.powered_down;
  powering_down += node.going_down() && !node.powered_down && !node.powering_up;
  allocated += is_busy(node);
  idle += is_idle(node);
  draining += node.draining;
  down += is_down(node);
  ready += up && (is_idle(node) || is_busy(node)) && !node.draining && !node.not_responding;
}

void PowerUpFailures::add(const SlurmNode& node) {
  const std::string_view reason = node.reason;
  const bool protects = node.draining && is_drain_reason(reason, kReasonProtected);
  if (!protects && !is_given_up(node)) return;
  is_protected |= protects;
  if (!protects) nodes.push_back(node.name);
  if (cause.empty()) cause = cause_of(reason);
}

}  // namespace slurmk8s
