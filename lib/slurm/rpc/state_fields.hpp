// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a SlurmState (slurm/slurm_state.hpp) out of libslurm's structs. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "slurm/rpc/compat.hpp"
#include "slurm/slurm_state.hpp"

namespace slurmk8s {

/** A node but for what jobs have of its CPUs and memory, which depends on the version of Slurm. */
StateNode decode_state_node(const node_info_t& info);
NodeStateCounts decode_node_counts(std::uint32_t node_state);
/** Its user is empty where slurmctld sends a number alone. */
StateJob decode_state_job(const job_info_t& info);
JobStateCounts decode_job_counts(std::uint32_t job_state, std::uint32_t reason);
/** `nodes`: how many places slurmctld's table of nodes has; what lies beyond it is left out. */
StatePartition decode_state_partition(const partition_info_t& info, std::size_t nodes);
std::vector<StateStatistic> decode_statistics(const stats_info_response_msg_t& answer);

/** Why a pending job waits, as few words as a label of a metric may have: Slurm's, or Limit, PartitionLimit, Other. */
const char* decode_wait_reason(std::uint32_t reason);

/** How many tasks "1-10:3,20%5" has; at least 1. */
std::uint64_t count_tasks(std::string_view array);

}  // namespace slurmk8s
