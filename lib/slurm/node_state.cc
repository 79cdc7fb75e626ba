// SPDX-License-Identifier: GPL-2.0-or-later
// Predicates on a node record.
#include "slurm/node_state.hpp"

#include "slurm/reasons.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;

bool is_drained_as(const SlurmNode& node, std::string_view kind) {
  return node.draining && is_drain_reason(node.reason, kind);
}

}  // namespace

bool is_allocated(const SlurmNode& node) { return node.base == Base::allocated || node.base == Base::mixed; }

bool is_busy(const SlurmNode& node) { return is_allocated(node) || node.completing || node.has_suspended_job; }

bool is_idle(const SlurmNode& node) { return node.base == Base::idle && !is_busy(node); }

bool is_free(const SlurmNode& node) { return is_idle(node) && !node.draining && !node.reserved; }

bool is_in_use(const SlurmNode& node) { return is_busy(node) || is_starting(node); }

bool must_stay(const SlurmNode& node) { return node.reserved || node.base == Base::unknown; }

bool may_have_suspended_job(const SlurmNode& node) {
  return (node.cloud || node.external) && node.base == Base::idle && !node.completing && !is_suspended(node);
}

bool is_starting(const SlurmNode& node) { return node.powering_up || node.power_up_asked; }

bool is_changing(const SlurmNode& node) { return is_starting(node) || node.going_down(); }

bool will_start(const SlurmNode& node) { return is_starting(node) || (is_busy(node) && node.powered_down); }

bool is_booted_for_next_job(const SlurmNode& node) { return node.powered_down || node.going_down(); }

bool is_leaving_without_job(const SlurmNode& node) { return node.power_down_asked && !is_busy(node); }

bool is_leaving_unregistered(const SlurmNode& node) {
  return node.cloud && node.base == Base::idle && node.powering_up && !is_suspended(node) &&
         is_leaving_without_job(node);
}

bool awaits_registration(const SlurmNode& node) { return node.powering_up && !node.going_down(); }

bool is_rebooting(const SlurmNode& node) {
  return node.cloud && node.reboot_issued && !node.powered_down && !node.going_down();
}

bool is_booting(const SlurmNode& node) { return node.powering_up || is_rebooting(node); }

bool is_suspended(const SlurmNode& node) { return node.powered_down || node.powering_down; }

bool awaits_suspend_timeout(const SlurmNode& node) {
  return node.powering_down && !node.powered_down && !node.power_down_asked && is_idle(node);
}

bool can_finish_power_down(const SlurmNode& node) {
  return node.cloud && node.powering_down && is_idle(node) && !node.draining;
}

bool has_finished_power_down(const SlurmNode& node) {
  return node.cloud && node.powered_down && is_idle(node) && !node.draining;
}

bool may_be_protected(const SlurmNode& node) {
  return node.powered_down && node.base == Base::idle && !node.power_up_asked && !node.draining;
}

bool can_power_up(const SlurmNode& node) {
  return node.powered_down && !node.going_down() && is_idle(node) && !is_starting(node) && !node.draining;
}

bool is_powered_up(const SlurmNode& node) { return !node.powered_down && !node.powering_up && !node.going_down(); }

bool is_registered(const SlurmNode& node) { return is_powered_up(node) && !node.power_up_asked && !is_down(node); }

bool is_responding(const SlurmNode& node) {
  return is_powered_up(node) && !node.not_responding && node.base != Base::down;
}

bool is_schedulable(const SlurmNode& node) {
  return is_powered_up(node) && (is_idle(node) || is_busy(node)) && !node.draining && !node.not_responding;
}

bool is_in_service(const SlurmNode& node) {
  return is_registered(node) && !node.draining && node.base != Base::unknown;
}

bool has_ever_registered(const SlurmNode& node) {
  return node.boot_time.time_since_epoch().count() > 0 || (!node.address.empty() && node.address != node.name);
}

bool needs_pod(const SlurmNode& node) { return is_busy(node) || node.not_responding || has_ever_registered(node); }

bool is_down(const SlurmNode& node) { return node.base == Base::down || node.base == Base::error; }

bool is_given_up(const SlurmNode& node) {
  if (!node.cloud || node.base != Base::down || node.going_down()) return false;
  // Only ResumeTimeout leaves a node powered down.
  return is_failure_reason(node.reason) || is_resume_timeout(node.reason, node.powered_down);
}

bool is_down_for_silence(const SlurmNode& node) {
  // What we set DOWN ourselves, or ResumeTimeout, is powered down later; what an administrator did stays.
  const bool is_silent = is_silence_reason(node.reason) || is_drain_reason(node.reason);
  return node.base == Base::down && is_silent && !is_given_up(node) && !node.going_down();
}

bool is_held_by_administrator(const SlurmNode& node) {
  return is_down(node) ? !is_given_up(node) : node.draining && !is_drain_reason(node.reason);
}

bool is_drained_for_pod(const SlurmNode& node) { return node.cloud && is_drained_as(node, kReasonNotDeleted); }
bool can_end_drain_for_pod(const SlurmNode& node) { return is_drained_for_pod(node) && !node.power_down_asked; }
bool is_waiting_for_pod(const SlurmNode& node) {
  return (node.powering_up && node.base != Base::down) || is_drained_for_pod(node);
}
bool is_drained_for_protection(const SlurmNode& node) { return is_drained_as(node, kReasonProtected); }
bool is_drained_for_scale_in(const SlurmNode& node) { return is_drained_as(node, kReasonScaleIn); }
bool is_drained_but_for_scale_in(const SlurmNode& node) { return node.draining && !is_drained_for_scale_in(node); }
bool is_drained_for_update(const SlurmNode& node) { return is_drained_as(node, kReasonUpdate); }
bool is_going_down_for_update(const SlurmNode& node) {
  return node.going_down() && is_drain_reason(node.reason, kReasonUpdate);
}
bool is_drained_for_kube_node(const SlurmNode& node) { return is_drained_as(node, kReasonKubeNode); }

bool has_former_reason(const SlurmNode& node) {
  return is_registered(node) && !node.draining && is_drain_reason(node.reason);
}

bool is_orphaned_allocation(const SlurmNode& node) {
  return node.cloud && is_allocated(node) && node.powered_down && !is_starting(node) && !node.going_down() &&
         !node.completing;
}

bool is_powered_down_unresponsive(const SlurmNode& node) {
  return node.cloud && node.base == Base::idle && node.powered_down && node.not_responding && !is_starting(node) &&
         !node.going_down() && !node.draining && !node.completing;
}

bool is_lost(const SlurmNode& node) {
  return node.base == Base::future && !node.dynamic && !node.cloud && node.reason == "NO NETWORK ADDRESS FOUND";
}

bool is_removable(const SlurmNode& node) {
  const bool is_off = node.powered_down || node.external;
  return is_off && !node.going_down() && !is_busy(node) && !is_starting(node) && !node.reserved;
}

}  // namespace slurmk8s
