// SPDX-License-Identifier: GPL-2.0-or-later
// Comparisons with slurmctld's records.
#include "engine/reconcile.hpp"

#include <algorithm>

#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"

namespace slurmk8s {
namespace {

/**
 * Whether slurmctld has waited long enough for a pod that nobody asked us for. Not so a node that was set DOWN while it
 * was powering up, and keeps that flag: it backs off, or is about to be suspended.
 */
bool is_missed_resume(Node& node, const SlurmNode& record, const ReconcileContext& context) {
  const bool is_left = is_given_up(record) || is_leaving_without_job(record);
  if (node.is_wanted_up() || !is_booting(record) || is_left) {
    node.waiting_unasked_since = {};
    return false;
  }
  if (node.waiting_unasked_since == TimePoint{}) node.waiting_unasked_since = context.now;
  return context.first || context.now - node.waiting_unasked_since >= kResumeGrace;
}

/**
 * Before the first request of slurmctld for this node: its pod stays. Not so a pod that is being deleted while Slurm
 * waits for the node, and a pod that may be older than a reboot.
 */
bool is_taken_over(const Node& node, const SlurmNode& record) {
  if (node.want() != Node::Want::unknown || !node.pod || is_rebooting(record)) return false;
  return !(record.powering_up && node.pod->deleting);
}

}  // namespace

ReconcileOutcome reconcile_node(Node& node, const SlurmNode* record, const ReconcileContext& context) {
  ReconcileOutcome result;
  const bool decided = node.want() != Node::Want::unknown;
  if (node.busy || (decided && context.now < node.since() + kReconcileGrace)) return result;
  if (!decided && node.pod && node.seen > context.begun) return result;

  if (!record || is_suspended(*record)) {
    // Also the pod of a node that Slurm does not know: nobody will ever suspend it.
    if (node.want() == Node::Want::down) return result;
    node.end(context.now);
  } else if (is_taken_over(node, *record)) {
    node.begin({node.pod->request}, context.now);
    node.progress.had_pod = true;
    node.progress.had_job = is_allocated(*record);
    node.progress.timed_scheduled = node.progress.timed_running = true;  // nobody knows when it was asked for
  } else if (is_missed_resume(node, *record, context)) {
    node.begin({context.request, {}, true}, context.now);  // which jobs wait for it is not known
  } else {
    node.needs_get = !decided && !is_booting(*record) && needs_pod(*record);
    if (!decided) node.progress.had_job = is_allocated(*record);
    result.changed = node.needs_get;
    result.waits = node.waiting_unasked_since != TimePoint{};
    return result;
  }
  node.needs_get = false;
  result.changed = true;
  return result;
}

void note_boot(Node& node, const SlurmNode* record, const ReconcileContext& context) {
  if (!record) return;
  if (context.first && awaits_registration(*record)) {
    node.booting = !node.pod || !node.pod->running;
    node.unregistered_pod = node.pod_uid();
  } else if (!node.unregistered_pod.empty() && is_responding(*record)) {
    node.booting = true;  // it has registered with this one
    node.unregistered_pod.clear();
  }
}

bool is_unregistered(const Node& node, const SlurmNode* record, TimePoint now) {
  return record && awaits_registration(*record) && !is_given_up(*record) && node.is_wanted_up() && !node.busy &&
         node.pod && node.pod->running && !node.pod->deleting && node.pod->uid == node.unregistered_pod &&
         now >= node.running_since + kRegistrationGrace;
}

std::vector<std::string> select_renewable(const std::vector<std::string>& nodes,
                                          const std::vector<std::vector<std::string>>& jobs,
                                          const std::set<std::string>& booting) {
  std::set<std::string> renewable(nodes.begin(), nodes.end());
  for (const std::vector<std::string>& job : jobs) {
    if (std::any_of(job.begin(), job.end(), [&](const std::string& node) { return booting.contains(node); })) {
      continue;
    }
    for (const std::string& node : job) renewable.erase(node);
  }
  return {renewable.begin(), renewable.end()};
}

bool is_late_resume(const Node& node, TimePoint now) {
  return node.is_wanted_up() && node.resume().inferred && now < node.since() + kDirectTimeout;
}

bool is_unseen(const Node& node, bool is_watched, TimePoint now) {
  return node.pod && !node.busy && !is_watched && now >= node.seen + kWatchGrace;
}

Repair plan_repair(const SlurmNode& record, const RepairFacts& facts) {
  // Without a NodeSet ResumeTimeout may have been of a node that was never ours.
  if (is_given_up(record) && (facts.owned || is_failure_reason(record.reason))) return Repair::back_off;
  if (is_drained_for_protection(record) && !facts.is_protected) return Repair::end_protection;
  if (is_drained_for_pod(record) && !facts.has_old_pod) return Repair::end_pod_drain;
  if (facts.owned && is_orphaned_allocation(record)) return Repair::free;
  if (facts.owned && is_powered_down_unresponsive(record)) return Repair::refresh;
  if (facts.owned && is_leaving_unregistered(record)) return Repair::power_down;
  return Repair::none;
}

bool has_old_pod(const Node& node, const SlurmNode& record) {
  return node.pod && (is_suspended(record) || node.pod->deleting);
}

}  // namespace slurmk8s
