// SPDX-License-Identifier: GPL-2.0-or-later
// What the engine tells slurmctld about nodes. Each function blocks: a SlurmCaller runs it.
//
// All of them look at the records first and change only those that are still as the engine believed: an administrator's
// drain, a resume or a registration that came meanwhile has the last word.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/node.hpp"
#include "engine/plan.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

/** A node that can't come up or has lost its pod. `slurmd_end`: how its slurmd went; it was `seen` then. */
struct NodeFailure {
  std::string node;
  std::string cause;
  FailureFacts facts;
  bool served = false;              ///< its slurmd may have had jobs: they are the ones to begin again soon
  std::vector<std::uint32_t> jobs;  ///< that wait for it
  SlurmdEnd slurmd_end = SlurmdEnd::other;
  TimePoint seen{};                 ///< by the host's own clock
  std::uint32_t out_of_memory = 0;  ///< a job that ends with the node, as OUT_OF_MEMORY, and isn't requeued; 0: none
};

/**
 * Carries out judge_failure() on a fresh record. A node whose start failed is set DOWN, so that its jobs are requeued,
 * and stays so until release_nodes(); one that was lost is powered down as well. The jobs' AdminComment gets the cause.
 * A node whose slurmd registers until then stays as it is, if its start had failed. An Error means that slurmctld could
 * not be asked.
 */
Result<Verdict> fail_node(Slurm& slurm, const NodeFailure& failure);

/** select_renewable() with slurmctld's jobs; of those it still waits for by fresh records. */
Result<std::vector<std::string>> find_renewable(Slurm& slurm, const std::vector<std::string>& unregistered,
                                                const std::set<std::string>& booting);

/**
 * Powers those nodes down that slurmctld takes for allocated (is_orphaned_allocation()) though no job has them, by one
 * list of all jobs. A job that gets one in that moment is requeued.
 */
Status free_nodes(Slurm& slurm, const std::vector<std::string>& nodes);

/**
 * Powers nodes down that fail_node() or ResumeTimeout left DOWN, or that are is_powered_down_unresponsive(), so that
 * they serve again; and those that are is_leaving_unregistered() by force, unless a job has them, even a suspended one.
 */
Status release_nodes(Slurm& slurm, const std::vector<std::string>& nodes);

/**
 * slurmctld's clock was set back by `step`. Until it has caught up, slurmctld's own timers stand still: nothing
 * is powered up or down, and jobs wait; and it takes no slurmd that it had asked for before, since that seems to have
 * booted earlier. Those of `nodes` (that are to be up, with the jobs that they were powered up for) that it waits for
 * are set DOWN and powered down. Their jobs are requeued, and may begin now: slurmctld keeps the time at which they
 * could begin first, which lies ahead. So may all jobs of its queue that could begin before. Then slurmctld restarts
 * itself. Takes up to kRequeuePatience, and an RPC for each job of the queue.
 */
Status recover_from_set_back(Slurm& slurm, const std::map<std::string, std::vector<std::uint32_t>>& nodes,
                             std::chrono::seconds step);
/** A job is pending again when its nodes that are up have confirmed its end: so long that is waited for. */
inline constexpr std::chrono::seconds kRequeuePatience{5};

/** The pods of these nodes are gone: ends their power-down now instead of after SuspendTimeout. */
Status finish_power_down(Slurm& slurm, const std::vector<std::string>& nodes);

/** What nodes, and these jobs of theirs, wait for; empty: for nothing any more. */
struct WaitingNote {
  std::vector<std::string> nodes;
  std::vector<std::uint32_t> jobs;
  std::string text;
};
/**
 * Says it in the Comment of nodes that are powering up, and in the AdminComment of their jobs, or takes it back. One
 * list of all nodes, whatever the number of notes. The first error; the other notes are written all the same. `told`
 * gets the nodes whose Comment was changed.
 */
Status note_waiting(Slurm& slurm, const std::vector<WaitingNote>& notes, std::set<std::string>* told = nullptr);

/** Drains the powered-down nodes of a NodeSet whose power-ups fail, so that jobs go elsewhere or wait. */
Status protect_nodeset(Slurm& slurm, const std::string& nodeset, const std::string& cause);
/** Takes protect_nodeset() back. */
Status unprotect_nodeset(Slurm& slurm, const std::string& nodeset);

}  // namespace slurmk8s
