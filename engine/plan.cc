// SPDX-License-Identifier: GPL-2.0-or-later
// The plan. Every rule that keeps a job or a pod safe is here, so that a test can state it.
#include "engine/plan.hpp"

#include <utility>

#include "base/strings.hpp"
#include "slurm/node_state.hpp"

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

Action postpone(TimePoint now) {
  Action action = act(Action::Kind::postpone);
  action.at = now + kRecordRetry;
  return action;
}

Action act_on(Action::Kind kind, std::string uid) {
  Action action = act(kind);
  action.uid = std::move(uid);
  return action;
}

/** The API server has just shown Node::pod. */
bool is_fresh(const Node& node) { return node.answer == Answer::pod_read; }

/** The watch tells when it is gone. */
Action plan_deleting(const Node& node, TimePoint now) {
  if (node.told_stuck) return {};
  const TimePoint overdue = node.deleting_since + node.pod->grace + kDeletionMargin;
  if (now < overdue) return wait_until(overdue);
  if (!is_fresh(node)) return act_on(Action::Kind::confirm, node.pod->uid);
  Action action = act_on(Action::Kind::stuck, node.pod->uid);
  action.reason = describe_deletion(*node.pod);
  action.cause = Cause::not_deleted;
  return action;
}

Action plan_down(const Node& node, const PlanContext& context) {
  if (!node.pod) return act(Action::Kind::forget);
  if (node.pod->deleting) return plan_deleting(node, context.now);
  // slurmctld's engine may have carried the request out after all, the node have been resumed since, and this pod be
  // the new one: a program is not told of a resume.
  return context.one_shot ? act(Action::Kind::ask) : act_on(Action::Kind::remove, node.pod->uid);
}

/** Its job may have ended while slurmctld was away, and slurmctld hear that only now. */
bool may_hear_of_ends(const Node& node, const PlanContext& context) {
  return node.progress.had_job && context.now < context.ends_told_at;
}

/** `action`, when slurmctld has heard of all ends. */
Action after_ends(const Node& node, const PlanContext& context, Action action) {
  return may_hear_of_ends(node, context) ? wait_until(context.ends_told_at) : std::move(action);
}

Action plan_up_without_pod(const Node& node, const PlanContext& context) {
  if (node.progress.had_pod) return after_ends(node, context, fail("pod is gone", Cause::gone));
  if (node.progress.had_older) return act(Action::Kind::ask);
  const Owner& owner = context.owner;
  if (!owner) {
    const TimePoint patience = node.since() + kOwnerGrace;
    return context.now < patience ? wait_until(patience) : fail(owner.error().message(), Cause::no_nodeset);
  }
  const std::string variant = node.progress.order ? node.progress.order->variant : "";
  if (!variant.empty() && !(*owner)->variants.contains(variant)) {  // its job asked for that, and for no other pod
    return fail("variant " + variant + " was removed", Cause::no_nodeset);
  }
  const bool depends_on_job = !(*owner)->variants.empty() || (*owner)->names_jobs;
  return act(depends_on_job && !node.progress.order ? Action::Kind::order : Action::Kind::create);
}

/** What keeps the pod from starting may be over, and the watch not have told: the job would pay for it. */
Action plan_start_problem(const Node& node, const PlanContext& context) {
  const StartProblem& start_problem = node.pod->start_problem;
  std::chrono::seconds grace = kStartGrace;
  Cause cause = Cause::start;
  if (start_problem.kind == StartProblem::Kind::unschedulable) {
    cause = Cause::unschedulable;
    grace = context.owner ? context.owner.value()->unschedulable_grace : NodeSet().unschedulable_grace;
  }
  const TimePoint patience = node.problem_since + grace;
  if (context.now < patience) return wait_until(patience);
  return is_fresh(node) ? fail(start_problem.text, cause) : act_on(Action::Kind::confirm, node.pod->uid);
}

/** The words of a slurmd that was asked to end say nothing about why. */
std::string describe_end(const Pod& pod, const Owner& owner) {
  if (!owner) return "pod ended: " + owner.error().message();
  return (pod.deleting ? "pod deleted: " : "pod ended: ") + pod.ended;
}

Action plan_up(const Node& node, const PlanContext& context) {
  if (!node.pod) return plan_up_without_pod(node, context);
  const bool is_ours_to_replace = !node.has_current_pod() || !node.progress.had_pod;
  if (node.pod->deleting && is_ours_to_replace) return plan_deleting(node, context.now);
  if (!node.has_current_pod()) return act(Action::Kind::ask);
  if (!node.pod->ended.empty()) {
    return after_ends(node, context, fail(describe_end(*node.pod, context.owner), Cause::ended));
  }
  if (node.pod->deleting) return plan_deleting(node, context.now);
  return node.pod->start_problem.is_fault() ? plan_start_problem(node, context) : Action{};
}

Action plan_wanted(const Node& node, const PlanContext& context) {
  switch (node.want()) {
    case Node::Want::unknown: return {};
    case Node::Want::down: return plan_down(node, context);
    case Node::Want::up: return plan_up(node, context);
  }
  return {};
}

// Answers.

using Answered = std::optional<Action>;

/** Otherwise it was suspended or resumed since, and the answer is about a former request. */
bool is_as_asked(const Node& node) {
  return node.resume().id == node.asked.request && node.since() == node.asked.since;
}

/** Also of a node that is to go when its jobs are over. */
bool has_come_up(const SlurmNode& record) {
  return !record.powering_up && !record.not_responding && !is_down(record) && !is_rebooting(record);
}

bool is_pod_as_asked(const Node& node) { return node.pod_uid() == node.asked.pod_uid; }

/**
 * A slurmd that booted late, after the request that its pod is too old for, has registered or will: when the API server
 * was away for longer than ResumeTimeout, or the pod was slow. Slurm's word counts, since a job may run there, or have
 * run until just now.
 */
Answered plan_record_of_up(const Node& node, TimePoint now) {
  switch (node.answer) {
    case Answer::slurm_waits: return act_on(Action::Kind::replace, node.pod_uid());
    case Answer::slurm_has_it_up: return act(Action::Kind::adopt);
    default: return postpone(now);
  }
}

Answered plan_record(const Node& node, TimePoint now) {
  if (!is_as_asked(node) || !is_pod_as_asked(node)) return std::nullopt;
  if (node.is_wanted_up()) return plan_record_of_up(node, now);
  if (!node.pod) return std::nullopt;
  const bool is_resumed = node.answer == Answer::slurm_waits || node.answer == Answer::slurm_has_it_up;
  if (!is_resumed) return act_on(Action::Kind::remove, node.pod->uid);
  Action action = act(Action::Kind::drop);
  action.reason = "resumed meanwhile: its pod stays";
  return action;
}

/** To recreate it is safe for this pod alone. */
Answered plan_unregistered(const Node& node) {
  if (!node.is_wanted_up() || !node.pod || node.pod->uid != node.unregistered_pod) return std::nullopt;
  Action action = act_on(Action::Kind::replace, node.pod->uid);
  action.reason = "slurmd registered with a previous slurmctld instance: recreating the pod";
  return action;
}

/** What was confirmed is told; all else is planned when there is room for requests. */
Answered plan_fresh_pod(const Node& node, const PlanContext& context) {
  const Action action = plan_wanted(node, context);
  const bool is_confirmed = action.kind == Action::Kind::fail || action.kind == Action::Kind::stuck;
  return is_confirmed ? Answered(action) : std::nullopt;
}

Answered plan_no_pod(const Node& node) {
  if (node.want() == Node::Want::unknown) return fail("pod is gone", Cause::gone);
  const bool is_taken = node.answer == Answer::foreign_pod && node.is_wanted_up() && !node.progress.had_pod;
  return is_taken ? Answered(fail(node.answer_text, Cause::refused)) : std::nullopt;
}

Answered plan_refused(const Node& node) {
  if (!is_as_asked(node)) return std::nullopt;
  return fail("pod: " + node.answer_text, Cause::refused);
}

Answered plan_refused_now(const Node& node) {
  Action action = act(Action::Kind::back_off);
  action.reason = node.answer_text;
  return action;
}

Answered plan_failure(const Node& node, TimePoint now) {
  if (!is_as_asked(node)) return std::nullopt;
  if (node.answer == Answer::failure_over) return postpone(now);
  return act(node.answer == Answer::failure_recreate ? Action::Kind::recreate : Action::Kind::end);
}

Answered plan_stuck(const Node& node) {
  if (!node.pod || !is_as_asked(node) || !is_pod_as_asked(node)) return std::nullopt;
  if (node.answer == Answer::stuck_told) return act(Action::Kind::stuck_told);
  return act(node.is_wanted_up() ? Action::Kind::stuck_lost : Action::Kind::stuck_suspended);
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

std::optional<Action> plan_answer(const Node& node, const PlanContext& context) {
  switch (node.answer) {
    case Answer::none: return std::nullopt;
    case Answer::slurm_waits:
    case Answer::slurm_has_it_up:
    case Answer::slurm_neither:
    case Answer::slurm_no_record: return plan_record(node, context.now);
    case Answer::unregistered: return plan_unregistered(node);
    case Answer::pod_read: return plan_fresh_pod(node, context);
    case Answer::no_pod:
    case Answer::foreign_pod: return plan_no_pod(node);
    case Answer::pod_exists: return act(Action::Kind::find_pod);
    case Answer::pod_replaced:
      return act(context.one_shot && node.want() == Node::Want::down ? Action::Kind::drop : Action::Kind::find_pod);
    case Answer::refused_now: return plan_refused_now(node);
    case Answer::refused_for_good: return plan_refused(node);
    case Answer::failure_told:
    case Answer::failure_recreate:
    case Answer::failure_over: return plan_failure(node, context.now);
    case Answer::stuck_lost:
    case Answer::stuck_told: return plan_stuck(node);
  }
  return std::nullopt;
}

Action plan_node(const Node& node, const PlanContext& context) {
  if (node.busy) return {};
  if (const std::optional<Action> action = plan_answer(node, context)) return *action;
  if (context.now < node.not_before) return wait_until(node.not_before);
  return node.needs_get ? after_ends(node, context, act(Action::Kind::get_pod)) : plan_wanted(node, context);
}

Answer answer_of(const SlurmNode* record) {
  if (!record) return Answer::slurm_no_record;
  if (awaits_registration(*record) || is_rebooting(*record)) return Answer::slurm_waits;
  return is_responding(*record) ? Answer::slurm_has_it_up : Answer::slurm_neither;
}

/** Two creates that meet at one ResourceQuota conflict, and the next try tells. */
Answer answer_of_create(const Error& error) {
  if (error.code() == Errc::already_exists) return Answer::pod_exists;
  return error.retryable() || error.code() == Errc::conflict ? Answer::refused_now : Answer::refused_for_good;
}

Answer answer_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::recreate: return Answer::failure_recreate;
    case Verdict::stay: return Answer::failure_over;
    default: return Answer::failure_told;
  }
}

Answer answer_of(StuckVerdict verdict) {
  return verdict == StuckVerdict::give_up ? Answer::stuck_lost : Answer::stuck_told;
}

bool is_stuck_again(const Node& node, const SlurmNode* record) {
  return node.told_stuck && !node.busy && judge_stuck(record) != StuckVerdict::leave;
}

bool is_api_outage_to_blame(const Node& node, bool watch_fails) {
  if (!node.is_wanted_up()) return false;
  const bool is_there = node.pod && node.has_current_pod();
  return is_there ? !node.pod->running && watch_fails : !node.progress.had_pod;
}

Verdict judge_failure(const SlurmNode* record, const FailureFacts& facts) {
  if (!record || is_suspended(*record) || is_leaving_without_job(*record)) return Verdict::forget;
  if (facts.is_start && has_come_up(*record)) return Verdict::stay;
  if (!record->powering_up) return Verdict::give_up;
  if (facts.vanished) return Verdict::recreate;
  return facts.may_back_off ? Verdict::back_off : Verdict::give_up;
}

StuckVerdict judge_stuck(const SlurmNode* record) {
  if (!record || !record->cloud || record->power_down_asked) return StuckVerdict::leave;
  if (record->base == SlurmNode::Base::down) {
    return is_down_for_silence(*record) ? StuckVerdict::give_up : StuckVerdict::leave;
  }
  if (awaits_registration(*record)) return StuckVerdict::give_up;
  return record->draining ? StuckVerdict::leave : StuckVerdict::drain;
}

// Undrained, a powered-down node is "not responding" (is_powered_down_unresponsive()), and could get a job before that
// is taken back. A power-down takes both back, and the node is drained until it begins.
ReleaseVerdict judge_release(const SlurmNode& record) {
  if (!can_end_drain_for_pod(record)) return ReleaseVerdict::leave;
  if (record.powering_down) return ReleaseVerdict::resume;
  return record.powered_down ? ReleaseVerdict::power_down : ReleaseVerdict::undrain;
}

}  // namespace slurmk8s
