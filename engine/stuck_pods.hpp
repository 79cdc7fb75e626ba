// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld is told about nodes whose pods do not go, and when they have gone. Each function blocks: a SlurmCaller
// runs it. As in node_report.hpp, all of them look at the records first.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/plan.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

/** A node whose pod does not go. */
struct StuckPod {
  std::string reason;               ///< describe_deletion()
  std::vector<std::uint32_t> jobs;  ///< that wait for the node
};

/**
 * Carries out judge_stuck() on fresh records, and returns the verdicts. Jobs that wait for a node that is given up get
 * the reason as their AdminComment (comment_jobs()).
 */
Result<std::map<std::string, StuckVerdict>> report_stuck(Slurm& slurm, const std::map<std::string, StuckPod>& pods);

/**
 * The pods of these nodes are gone: takes the drains of report_stuck() back, and ends the power-downs that waited for
 * it. A node that is drained for another cause stays so.
 */
Status release_stuck(Slurm& slurm, const std::vector<std::string>& nodes);

}  // namespace slurmk8s
