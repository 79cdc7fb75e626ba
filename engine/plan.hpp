// SPDX-License-Identifier: GPL-2.0-or-later
// The plan: what to do next about a node. Pure: no I/O, no clock, no state. The heart of the engine.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

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

/** What a plan depends on besides the node. */
struct PlanContext {
  const Owner& owner;
  TimePoint now{};
  /** The engine was made for one request, which may be old: slurmctld is asked before a pod is deleted. */
  bool one_shot = false;
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
 *  - wanted up, its pod is gone or has ended: failed, so that Slurm requeues the jobs;
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

/** One comparison of our nodes with Slurm's records. */
struct ReconcileContext {
  TimePoint now{};
  /**
   * The first one after the engine's start: nothing can be under way, so that a missed resume is inferred at once.
   */
  bool first = false;
  std::string request;  ///< id for a resume that is found here
  TimePoint begun{};    ///< when slurmctld was asked: what came after may be newer than its answer
};

/** What an observed state of Slurm's node record says about what we should want. */
struct ReconcileOutcome {
  bool changed = false;  ///< `node` was changed: plan it again
  bool waits = false;    ///< a resume may be on its way: look again when kResumeGrace is over
};

/**
 * Brings `node.want()` in line with slurmctld's record: after a start of the engine (want unknown), and afterwards for
 * what only Slurm knows: a record that is suspended while we still want a pod (a suspend that never reached us), or
 * that is powering up without our having been asked (a resume that never reached us). Of a node that is up without a
 * pod it only says so (Node::needs_get): the watch may lag.
 * `record` null: Slurm has no such node. A want younger than kReconcileGrace is left alone, since `record` may be older
 * than it; so is a pod that was first seen after the look had begun; and so is a resume that may still be on its way,
 * for kResumeGrace.
 */
ReconcileOutcome reconcile_node(Node& node, const SlurmNode* record, const ReconcileContext& context);

/**
 * Notes what slurmctld waited for at the first look (Node::booting, Node::unregistered_pod). Call it after
 * reconcile_node() at each look. A slurmd registers once. If it did so with a slurmctld that was killed before it saved
 * that, or that another one took over from, the new one waits for it until ResumeTimeout.
 */
void note_boot(Node& node, const SlurmNode* record, const ReconcileContext& context);

/** slurmd registers within a second or two of its start, and goes on trying, with growing pauses, while it can't. */
inline constexpr std::chrono::seconds kRegistrationGrace{30};

/** Whether slurmctld still waits for a slurmd whose pod was there at the first look, and ran for kRegistrationGrace. */
bool is_unregistered(const Node& node, const SlurmNode* record, TimePoint now);

/**
 * Those of `nodes` (is_unregistered()) whose pods can be recreated safely: no job can have started there. Either no job
 * holds the node, or the job that does (`jobs`: the nodes of each job) also waited for another node that had not
 * registered with the former slurmctld (`booting`: Node::booting). That holds with --wait-all-nodes=0, too: slurmctld
 * sets a job's wait_all_nodes when it gets a cloud node that is powered down or powering up
 * (set_initial_job_alias_list(), reboot_job_nodes()), and test_job_nodes_ready() then asks for all of its nodes.
 */
std::vector<std::string> select_renewable(const std::vector<std::string>& nodes,
                                          const std::vector<std::vector<std::string>>& jobs,
                                          const std::set<std::string>& booting);

/** What a record in one of the engine's comparisons says is left to be done, by another engine or at another try. */
enum class Repair {
  none,
  back_off,        ///< it is DOWN, to be powered down after a back-off
  end_protection,  ///< it is drained for a protection that is over
  end_pod_drain,   ///< it is drained for a pod that has gone
  free,            ///< it is allocated, perhaps to no job: is_orphaned_allocation()
  power_down,      ///< once more, or slurmctld will not give it to jobs: is_powered_down_unresponsive()
};

struct RepairFacts {
  bool owned = false;         ///< a NodeSet owns the node
  bool has_old_pod = false;   ///< a pod is there that has to go first: has_old_pod()
  bool is_protected = false;  ///< its NodeSet is
};

Repair plan_repair(const SlurmNode& record, const RepairFacts& facts);
bool has_old_pod(const Node& node, const SlurmNode& record);

inline constexpr std::chrono::seconds kReconcileGrace{30};
/** slurmctld's ResumeProgram takes a moment. When it comes after all, it finds its pod made: is_late_resume(). */
inline constexpr std::chrono::seconds kResumeGrace{5};

/**
 * Whether a resume of `node` is the one that a comparison has already inferred: the pod that was made then is younger
 * than slurmctld's request, and may run a job by now. The programs live for a minute at most (kDirectTimeout).
 */
bool is_late_resume(const Node& node, TimePoint now);

/** What a fresh record says to Action::ask. Null: Slurm has no such node. */
Answer answer_of(const SlurmNode* record);

/** What an error says to Action::create. */
Answer answer_of_create(const Error& error);

/** What to do about a node that can't come up or has lost its pod, after a fresh look at Slurm's record. */
enum class Verdict {
  forget,    ///< Slurm has no use for it any more: nothing to tell
  back_off,  ///< it can't start: set it DOWN, so that its jobs are requeued, until a back-off is over
  recreate,  ///< it never registered and Slurm still waits for it: make the pod again
  /** It is lost: set it DOWN, so that its jobs are requeued, and have it powered down, so that it serves again. */
  give_up,
};

struct FailureFacts {
  bool vanished = false;     ///< its pod was deleted by somebody before slurmd ended: another try may succeed
  bool may_back_off = true;  ///< false: nobody is there to release it later
};

/** `record` null: Slurm has no such node. */
Verdict judge_failure(const SlurmNode* record, const FailureFacts& facts);
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

/**
 * Whether its pod is known from an answer alone, and the watch (`is_watched`: it has shown it) should have by now. When
 * the pod went before it did, nobody tells that it is gone.
 */
bool is_unseen(const Node& node, bool is_watched, TimePoint now);
/** The watch shows a pod within this, or it is not well. */
inline constexpr std::chrono::seconds kWatchGrace{10};

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
