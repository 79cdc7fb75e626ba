// SPDX-License-Identifier: GPL-2.0-or-later
// The plan. Every rule that keeps a job or a pod safe is here, so that a test can state it.
#include "engine/plan.hpp"

#include <algorithm>

#include "slurm/reasons.hpp"

namespace slurmk8s {
namespace {

Action act(Action::Kind kind) {
  Action action;
  action.kind = kind;
  return action;
}

Action fail(std::string reason, Cause cause) {
  Action action = act(Action::Kind::fail);
  action.reason = std::move(reason);
  action.cause = cause;
  return action;
}

Action wait_until(TimePoint at) {
  Action action = act(Action::Kind::wait);
  action.at = at;
  return action;
}

/** The watch tells when it is gone. */
Action plan_deleting(const Node& node, TimePoint now) {
  if (node.told_stuck) return {};
  const TimePoint overdue = node.deleting_since + node.pod->grace + kDeletionMargin;
  if (now < overdue) return wait_until(overdue);
  Action action = act(Action::Kind::stuck);
  action.uid = node.pod->uid;
  action.reason = describe_deletion(*node.pod);
  action.cause = Cause::not_deleted;
  return action;
}

Action plan_down(const Node& node, TimePoint now) {
  if (!node.pod) return {};
  if (node.pod->deleting) return plan_deleting(node, now);
  Action action = act(Action::Kind::remove);
  action.uid = node.pod->uid;
  return action;
}

Action plan_up_without_pod(const Node& node, const Owner& owner, TimePoint now) {
  if (node.had_pod) return fail("pod is gone", Cause::gone);
  if (node.had_older) return act(Action::Kind::ask);
  if (!owner) {
    const TimePoint patience = node.since + kOwnerGrace;
    return now < patience ? wait_until(patience) : fail(owner.error().message(), Cause::no_nodeset);
  }
  const bool depends_on_job = !(*owner)->variants.empty() || (*owner)->names_jobs;
  return act(depends_on_job && !node.order ? Action::Kind::order : Action::Kind::create);
}

Action plan_start_problem(const Node& node, const Owner& owner, TimePoint now) {
  const StartProblem& start_problem = node.pod->start_problem;
  std::chrono::seconds grace = kStartGrace;
  Cause cause = Cause::start;
  if (start_problem.kind == StartProblem::Kind::unschedulable) {
    cause = Cause::unschedulable;
    grace = owner ? owner.value()->unschedulable_grace : NodeSet().unschedulable_grace;
  }
  const TimePoint patience = node.problem_since + grace;
  return now < patience ? wait_until(patience) : fail(start_problem.text, cause);
}

/** The words of a slurmd that was asked to end say nothing about why. */
std::string describe_end(const Pod& pod, const Owner& owner) {
  if (!owner) return "pod ended: " + owner.error().message();
  return (pod.deleting ? "pod deleted: " : "pod ended: ") + pod.ended;
}

Action plan_up(const Node& node, const Owner& owner, TimePoint now) {
  if (!node.pod) return plan_up_without_pod(node, owner, now);
  const bool is_ours_to_replace = !node.has_current_pod() || !node.had_pod;
  if (node.pod->deleting && is_ours_to_replace) return plan_deleting(node, now);
  if (!node.has_current_pod()) return act(Action::Kind::ask);
  if (!node.pod->ended.empty()) return fail(describe_end(*node.pod, owner), Cause::ended);
  if (node.pod->start_problem.is_fault()) return plan_start_problem(node, owner, now);
  return node.pod->deleting ? plan_deleting(node, now) : Action{};
}

}  // namespace

const char* to_string(Cause cause) {
  switch (cause) {
    case Cause::refused: return "refused";
    case Cause::no_nodeset: return "no_nodeset";
    case Cause::unschedulable: return "unschedulable";
    case Cause::start: return "start";
    case Cause::ended: return "ended";
    case Cause::gone: return "gone";
    case Cause::not_deleted: return "not_deleted";
  }
  return "unknown";
}

Action plan_node(const Node& node, const Owner& owner, TimePoint now) {
  if (node.busy) return {};
  if (now < node.not_before) return wait_until(node.not_before);
  if (node.needs_get) return act(Action::Kind::look);
  switch (node.want) {
    case Node::Want::unknown: return {};
    case Node::Want::down: return plan_down(node, now);
    case Node::Want::up: return plan_up(node, owner, now);
  }
  return {};
}

namespace {

constexpr std::chrono::seconds kLateResume{60};

bool is_allocated(const SlurmNode& record) {
  return record.base == SlurmNode::Base::allocated || record.base == SlurmNode::Base::mixed;
}

/** One that is only asked to go (POWER_DOWN) isn't: its jobs may run for days, and SuspendProgram comes after them. */
bool is_suspended(const SlurmNode& record) { return record.powered_down || record.powering_down; }

/**
 * Whether slurmctld has waited long enough for a pod that nobody asked us for. Not so a node that was set DOWN while it
 * was powering up, and keeps that flag: it is held back, or about to be suspended.
 */
bool is_missed_resume(Node& node, const SlurmNode& record, const Look& look) {
  const bool is_left = is_given_up(record) || (record.power_down_asked && !is_busy(record));
  if (node.want == Node::Want::up || !record.powering_up || is_left) {
    node.waiting_unasked_since = {};
    return false;
  }
  if (node.waiting_unasked_since == TimePoint{}) node.waiting_unasked_since = look.now;
  return look.first || look.now - node.waiting_unasked_since >= kResumeGrace;
}

/** What was there before slurmctld's state was saved, or was just made, has no boot time; the address outlives both. */
bool has_registered(const SlurmNode& record) {
  return record.boot_time.time_since_epoch().count() > 0 || (!record.address.empty() && record.address != record.name);
}

/** Whether a record that is up must have a pod. One that was just made and never registered has none yet. */
bool needs_pod(const SlurmNode& record) { return is_busy(record) || record.not_responding || has_registered(record); }

/** A pod that is there when nobody has asked us yet, and is to stay: not one on its way out that Slurm waits for. */
bool is_taken_over(const Node& node, const SlurmNode& record) {
  return node.want == Node::Want::unknown && node.pod && !(record.powering_up && node.pod->deleting);
}

}  // namespace

ReconcileOutcome reconcile_node(Node& node, const SlurmNode* record, const Look& look) {
  ReconcileOutcome result;
  const bool decided = node.want != Node::Want::unknown;
  if (node.busy || (decided && look.now < node.since + kReconcileGrace)) return result;
  if (!decided && node.pod && node.seen > look.begun) return result;

  if (!record || is_suspended(*record)) {
    // Also the pod of a node that Slurm does not know: nobody will ever suspend it.
    if (node.want == Node::Want::down) return result;
    node.want_down(look.now);
  } else if (is_taken_over(node, *record)) {
    node.want = Node::Want::up;
    node.request = node.pod->request;
    node.had_pod = true;
    node.timed_scheduled = node.timed_running = true;  // nobody knows when it was asked for
  } else if (is_missed_resume(node, *record, look)) {
    node.want = Node::Want::up;
    node.request = look.request;
    node.inferred_resume = true;
    node.had_pod = false;
    node.jobs.clear();  // those of a former request; which wait for it now is not known
    node.order.reset();
  } else {
    node.needs_get = !decided && !record->powering_up && needs_pod(*record);
    result.changed = node.needs_get;
    result.waits = node.waiting_unasked_since != TimePoint{};
    return result;
  }
  node.since = look.now;
  node.waiting_unasked_since = {};
  node.needs_get = false;
  result.changed = true;
  return result;
}

void note_boot(Node& node, const SlurmNode* record, const Look& look) {
  if (!record) return;
  if (look.first && is_waited_for(*record)) {
    node.booting = !node.pod || !node.pod->running;
    node.unregistered_pod = node.pod_uid();
  } else if (!node.unregistered_pod.empty() && is_up(*record)) {
    node.booting = true;  // it has registered with this one
    node.unregistered_pod.clear();
  }
}

bool is_unregistered(const Node& node, const SlurmNode* record, TimePoint now) {
  return record && is_waited_for(*record) && !is_given_up(*record) && node.want == Node::Want::up && !node.busy &&
         node.pod && node.pod->running && !node.pod->deleting && node.pod->uid == node.unregistered_pod &&
         now >= node.running_since + kRegistrationGrace;
}

std::vector<std::string> select_renewable(const std::vector<std::string>& nodes,
                                          const std::vector<std::vector<std::string>>& jobs,
                                          const std::set<std::string>& booting) {
  std::set<std::string> renewable(nodes.begin(), nodes.end());
  for (const std::vector<std::string>& job : jobs) {
    if (std::any_of(job.begin(), job.end(), [&](const std::string& node) { return booting.count(node) != 0; })) {
      continue;
    }
    for (const std::string& node : job) renewable.erase(node);
  }
  return {renewable.begin(), renewable.end()};
}

bool is_late_resume(const Node& node, TimePoint now) {
  return node.want == Node::Want::up && node.inferred_resume && now < node.since + kLateResume;
}

Verdict judge_failure(const SlurmNode* record, bool vanished) {
  if (!record || is_suspended(*record)) return Verdict::forget;
  if (record->power_down_asked && !is_busy(*record)) return Verdict::forget;
  if (record->powering_up) return vanished ? Verdict::recreate : Verdict::hold;
  return Verdict::give_up;
}

StuckVerdict judge_stuck(const SlurmNode* record) {
  if (!record || !record->cloud || record->power_down_asked) return StuckVerdict::leave;
  if (record->base == SlurmNode::Base::down) {
    // What we set DOWN ourselves, or ResumeTimeout, is powered down later; what an administrator did stays.
    const bool is_silent = is_silence_reason(record->reason) || is_drain_reason(record->reason);
    return is_silent && !is_given_up(*record) && !record->powering_down ? StuckVerdict::give_up : StuckVerdict::leave;
  }
  if (is_waited_for(*record)) return StuckVerdict::give_up;
  return record->draining ? StuckVerdict::leave : StuckVerdict::drain;
}

bool is_drained_for_pod(const SlurmNode& record) {
  return record.cloud && record.draining && is_drain_reason(record.reason, kReasonNotDeleted);
}

bool is_waited_for(const SlurmNode& record) { return record.powering_up && !record.going_down(); }

bool is_up(const SlurmNode& record) {
  return !record.powering_up && !record.going_down() && !record.powered_down && !record.not_responding &&
         record.base != SlurmNode::Base::down;
}

bool is_left_allocated(const SlurmNode& record) {
  return record.cloud && is_allocated(record) && record.powered_down && !record.powering_up && !record.power_up_asked &&
         !record.going_down() && !record.completing;
}

bool is_left_silent(const SlurmNode& record) {
  return record.cloud && record.base == SlurmNode::Base::idle && record.powered_down && record.not_responding &&
         !record.powering_up && !record.power_up_asked && !record.going_down() && !record.draining &&
         !record.completing;
}

bool is_given_up(const SlurmNode& record) {
  if (!record.cloud || record.base != SlurmNode::Base::down || record.going_down()) return false;
  // Only ResumeTimeout leaves a node powered down.
  return is_failure_reason(record.reason) || is_resume_timeout(record.reason, record.powered_down);
}

}  // namespace slurmk8s
