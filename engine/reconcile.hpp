// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld's records say about nodes, in each of the engine's comparisons: the part of the plan that no request
// and no answer leads to. Pure.
#pragma once

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "engine/node.hpp"
#include "slurm/records.hpp"

namespace slurmk8s {

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
 * that is powering up or rebooting without our having been asked (a resume that never reached us). Of a node that is up
 * without a pod it only says so (Node::needs_get): the watch may lag.
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
  refresh,         ///< it is_powered_down_unresponsive(); a power_up may follow at once
  power_down,      ///< it waits for a slurmd that will not come: is_leaving_unregistered()
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
 * A program that does the work itself, without an engine, ends after this: a resume that it brings can't come later. It
 * is the default ResumeTimeout, for which Slurm lets a ResumeProgram run.
 */
inline constexpr std::chrono::seconds kDirectTimeout{60};

/**
 * Whether a resume of `node` is the one that a comparison has already inferred: the pod that was made then is younger
 * than slurmctld's request, and may run a job by now.
 */
bool is_late_resume(const Node& node, TimePoint now);

/**
 * Whether its pod is known from an answer alone, and the watch (`is_watched`: it has shown it) should have by now. When
 * the pod went before it did, nobody tells that it is gone.
 */
bool is_unseen(const Node& node, bool is_watched, TimePoint now);
/** The watch shows a pod within this, or it is not well. */
inline constexpr std::chrono::seconds kWatchGrace{10};

}  // namespace slurmk8s
