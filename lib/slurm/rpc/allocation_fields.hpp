// SPDX-License-Identifier: GPL-2.0-or-later
// An allocation (slurm/allocations.hpp) into and out of libslurm's structs. Pure; any thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "slurm/allocations.hpp"
#include "slurm/rpc/compat.hpp"

namespace slurmk8s {

/** Error (invalid) of a request that libslurm's struct can't hold, or whose user is root. */
Status check_request(const AllocationRequest& request);

/** A job for one node of only_nodes: the node is required, and none is excluded. */
bool requires_node(const AllocationRequest& request);

/** slurmctld has these texts of all jobs in memory, and sends them in each list of jobs. */
inline constexpr std::size_t kMaxExcludedBytes = 65536;
/** Without only_nodes: all jobs of a user may have such a list. */
inline constexpr std::size_t kMaxNotNodesBytes = 8192;

/**
 * A hostlist of the nodes where the job must not run: those of slurmctld's table that are in not_nodes, or not in
 * only_nodes. Error (invalid): longer than kMaxExcludedBytes, or than kMaxNotNodesBytes.
 */
Result<std::string> excluded_nodes(const AllocationRequest& request, const std::vector<std::string>& node_names);

/**
 * A request as libslurm's struct, after check_request(). The struct points into the request, which must outlive it, and
 * into this. `excluded`: excluded_nodes(); empty: none.
 */
class AllocationMessage {
 public:
  explicit AllocationMessage(const AllocationRequest& request, std::string excluded = {});
  ~AllocationMessage() = default;
  AllocationMessage(const AllocationMessage&) = delete;
  AllocationMessage& operator=(const AllocationMessage&) = delete;

  job_desc_msg_t& get() { return message_; }

 private:
  void set_texts(const AllocationRequest& request);
  void set_resources(const AllocationRequest& request);

  job_desc_msg_t message_;
  std::string tres_per_task_;
  std::string excluded_;
  std::string user_;
  char* environment_[1];
};

/** Whether the job's nodes differ in CPUs or GPUs: only then decode_allocation() needs names of nodes. */
bool has_unequal_nodes(const job_info_t& info);

/**
 * `node_names`: those of slurmctld's table of nodes, by their index, empty where there is none. A node that isn't among
 * them is given the smallest numbers of CPUs and GPUs that one of the job's nodes has. The details of a job must be in
 * `info` (SHOW_DETAIL): without them a node has 0 of both.
 */
Allocation decode_allocation(const job_info_t& info, const std::vector<std::string>& node_names);

/** The position of each job that waits and isn't held, by its id. */
std::map<std::uint32_t, std::uint32_t> queue_positions(const std::vector<const job_info_t*>& jobs);

/** Whether the job's Comment begins with the prefix. */
bool has_comment(const job_info_t& info, const std::string& prefix);

}  // namespace slurmk8s
