// SPDX-License-Identifier: GPL-2.0-or-later
// LostJobs: the jobs of a node that is lost, and what becomes of each. The thread of the Slurm calls alone.
#pragma once

#include <ctime>
#include <vector>

#include "base/clock.hpp"
#include "engine/node_report.hpp"
#include "slurm/runs_on_nodes.hpp"
#include "slurm/slurm.hpp"
#include "engine/slurmd_ends.hpp"

namespace slurmk8s {

class LostJobs {
 public:
  /** `fast_requeue`: whether requeued jobs are to begin before Slurm's delay is over. */
  explicit LostJobs(bool fast_requeue) : fast_requeue_(fast_requeue) {}

  /**
   * To be called just before slurmctld is told, which forgets the nodes of the jobs that it requeues. Adds the jobs of
   * the node to those of `failure` that get its cause as AdminComment, and says which of them ends with the node.
   * Returns those for FastRequeue. `now`, `wall`: when the node was found lost.
   */
  std::vector<LostRun> note(Slurm& slurm, NodeFailure& failure, TimePoint now, std::time_t wall);

 private:
  const bool fast_requeue_;
  RunsOnNodes runs_;
  SlurmdEnds ends_;
};

}  // namespace slurmk8s
