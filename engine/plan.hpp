// SPDX-License-Identifier: GPL-2.0-or-later
// The plan: what to do next about a node. Pure: no I/O, no clock, no state. The heart of the engine.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/node.hpp"
#include "nodeset/nodeset.hpp"
#include "slurm/records.hpp"

namespace slurmk8s {

/** Why a node is given up: for metrics; the words are elsewhere. */
enum class Cause {
  refused,        ///< the API server refused the pod for good: quota, admission, an invalid template
  no_nodeset,     ///< no NodeSet owns the node, or it is invalid
  unschedulable,  ///< no Kubernetes node had room within the grace
  start,          ///< kubelet could not start it
  ended,          ///< slurmd ended
  gone,           ///< somebody deleted the pod
  not_deleted,    ///< its former pod does not go
};
inline constexpr std::size_t kCauses = 7;
/** "refused", "no_nodeset", … */
const char* to_string(Cause cause);

/** What the engine does next about one node. */
struct Action {
  enum class Kind {
    none,
    wait,      ///< plan it again at `at`
    postpone,  ///< do nothing about it before `at`, whatever happens meanwhile
    // questions to slurmctld
    order,  ///< which of the NodeSet's pods it is to be
    ask,    ///< whether it still waits for the node, or has taken a pod of another request
    fail,   ///< told that the node can't come up, or is lost: `reason`
    stuck,  ///< told that the pod of `uid` does not go: `reason`
    // requests to the API server
    create,    ///< POST its pod
    remove,    ///< DELETE the pod of `uid`
    back_off,  ///< the same again after a growing pause, the last time was refused: `reason`
    replace,   ///< so, of a pod that is not to serve this request, if there is one; the next one is
    get_pod,   ///< GET its pod: what the watch shows may be older than what Slurm says
    find_pod,  ///< GET the pod that has its name: another one than was known
    confirm,   ///< GET its pod before slurmctld is told of it: the watch may lag
    // changes of the node alone
    adopt,            ///< the pod that is there serves this request, or did
    recreate,         ///< its request begins again, with another pod
    end,              ///< its request is over: it is to have no pod
    stuck_lost,       ///< so, since its pod does not go; slurmctld has been told
    stuck_suspended,  ///< that was over already, and slurmctld has been told that its pod does not go: it is lost
    stuck_told,       ///< slurmctld has been told that its pod does not go: nothing until the record changes
    forget,           ///< its suspend is done: slurmctld is told, and it is known no more
    drop,             ///< it is known no more: the pod that was to go has gone, or is not to go any more
  };
  Kind kind = Kind::none;
  std::string uid;
  std::string reason;         ///< for slurmctld; with replace and drop, for the log alone
  Cause cause = Cause::gone;  ///< with fail
  TimePoint at{};
};

/** The NodeSet that owns a node, or why there is none. */
using Owner = Result<const NodeSet*>;

/** A resume may be seen before the NodeSet's own change that made the node possible: this long we wait for it. */
inline constexpr std::chrono::seconds kOwnerGrace{5};
/** kubelet tries again by itself what went wrong once, a pull for example: this long we wait for it. */
inline constexpr std::chrono::seconds kStartGrace{5};
/** A pod that is being deleted goes when its grace period is over, or a moment later; after this something keeps it. */
inline constexpr std::chrono::seconds kDeletionMargin{10};

/** When slurmctld has no answer that helps: until it is asked again. */
inline constexpr std::chrono::seconds kRecordRetry{1};

/**
 * After slurmctld was away: until then a job's script that ended meanwhile is told. slurmstepd tries for
 * MessageTimeout, and then again after 15 s (RETRY_DELAY in slurmstepd's mgr.c).
 */
inline constexpr std::chrono::seconds kEndsGrace{17};

/** What a plan depends on besides the node. */
struct PlanContext {
  const Owner& owner;
  TimePoint now{};
  /** The engine was made for one request, which may be old: slurmctld is asked before a pod is deleted. */
  bool one_shot = false;
  TimePoint ends_told_at{};  ///< kEndsGrace after slurmctld's start; zero: it was not away
};

/**
 * The next action for `node`, now: the only place that decides about it. Nothing while a question about it is under way
 * (`busy`); what follows from an answer: plan_answer(); else nothing while it is backing off.
 *  - wanted down: its pod, if any, is removed; without one it is forgotten;
 *  - whatever is wanted, its pod should have gone kDeletionMargin ago: confirmed, then slurmctld is told, once;
 *  - wanted up, with a pod of another request: slurmctld is asked (if its slurmd booted before the request, slurmctld
 *    ignores it until ResumeTimeout, and the pod is replaced; if after, a job may run there);
 *  - wanted up, such a pod is gone: the same, since a job may have been lost with it;
 *  - wanted up, no pod, and which one depends on its job: slurmctld is asked;
 *  - wanted up, no pod: created, when a NodeSet owns the node; failed after kOwnerGrace when none does;
 *  - wanted up, its pod is going, and is to be recreated: waited for;
 *  - wanted up, its pod is gone or has ended: failed, so that Slurm requeues the jobs; where it had a job when
 *    slurmctld started, not before PlanContext::ends_told_at, since the job may have ended on another node;
 *  - wanted up, its pod can't run: confirmed, then failed, after a grace, which the NodeSet sets for an unschedulable
 *    pod;
 *  - in doubt (Node::needs_get), whatever is wanted: its pod is read.
 */
Action plan_node(const Node& node, const PlanContext& context);

/**
 * What follows at once from Node::answer, whether or not there is room for requests: it is as new as it gets. Nothing:
 * the answer says nothing about what the node is to be now, which is planned as if it had not come.
 */
std::optional<Action> plan_answer(const Node& node, const PlanContext& context);

/** What a fresh record says to Action::ask. Null: Slurm has no such node. */
Answer answer_of(const SlurmNode* record);

/** What an error says to Action::create. */
Answer answer_of_create(const Error& error);

/** What to do about a node that can't come up or has lost its pod, after a fresh look at Slurm's record. */
enum class Verdict {
  forget,    ///< Slurm has no use for it any more: nothing to tell
  back_off,  ///< it can't start: set it DOWN, so that its jobs are requeued, until a back-off is over
  recreate,  ///< it never registered and Slurm still waits for it: make the pod again
  stay,      ///< its slurmd has registered meanwhile, and may have a job: what kept its pod from starting is over
  /** It is lost: set it DOWN, so that its jobs are requeued, and have it powered down, so that it serves again. */
  give_up,
};

struct FailureFacts {
  bool vanished = false;     ///< its pod was deleted by somebody before slurmd ended: another try may succeed
  bool may_back_off = true;  ///< false: nobody is there to release it later
  bool is_start = false;     ///< its pod was seen not to start, some time ago
};

/** `record` null: Slurm has no such node. */
Verdict judge_failure(const SlurmNode* record, const FailureFacts& facts);
/** Whether the node is set DOWN for it. */
constexpr bool sets_down(Verdict verdict) { return verdict == Verdict::back_off || verdict == Verdict::give_up; }
Answer answer_of(Verdict verdict);

/** What to do about a node whose pod is deleted, and does not go. Its Kubernetes node may be lost. */
enum class StuckVerdict {
  leave,    ///< it takes no job as it is, or is about to be suspended: it is looked at again then
  drain,    ///< it takes no further job; those that run go on, since a silent kubelet says nothing about them
  give_up,  ///< a job waits for it, or slurmctld has lost its slurmd: it is set DOWN and powered down
};

/** `record` null: Slurm has no such node. */
StuckVerdict judge_stuck(const SlurmNode* record);
Answer answer_of(StuckVerdict verdict);

/** What to do about a node that was drained for such a pod, when the pod has gone. */
enum class ReleaseVerdict {
  leave,       ///< it is drained for something else, or is about to be suspended
  power_down,  ///< it is powered down: once more, which undrains it
  resume,      ///< it is powering down: that ends here
  undrain,     ///< it is up
};
ReleaseVerdict judge_release(const SlurmNode& record);

/**
 * Whether the pod of a node that is to be up could not be made yet, or not be seen: the API server is away or
 * throttles, or the previous pod doesn't go. When slurmctld gives the node up meanwhile, its NodeSet isn't to blame.
 */
bool is_api_outage_to_blame(const Node& node, bool watch_fails);

/**
 * Whether slurmctld is to be told once more that the node's pod does not go: its drain was taken back, or slurmctld has
 * lost its slurmd since.
 */
bool is_stuck_again(const Node& node, const SlurmNode* record);

}  // namespace slurmk8s
