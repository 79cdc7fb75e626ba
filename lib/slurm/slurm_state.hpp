// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmState: jobs, nodes, partitions and the scheduler's statistics, as far as metrics count them.
//
// What a job or node counts as has the names of metrics/openmetrics of Slurm 25.11. A node or job counts as several.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** What nodes count as: first states, then flags. */
enum class NodeCount {
  alloc,
  down,
  future,
  idle,
  mixed,
  unknown,
  blocked,
  cloud,
  completing,
  drain,
  drained,
  draining,
  dyn_future,
  dyn_normal,
  external,
  fail,
  invalid_reg,
  maint,
  noresp,
  planned,
  power_down,
  power_up,
  powered_down,
  powering_down,
  powering_up,
  reboot_issued,
  reboot_req,
  resv,
  end
};
using NodeStateCounts = std::bitset<static_cast<std::size_t>(NodeCount::end)>;

/** What jobs count as: first states, then flags. */
enum class JobCount {
  bootfail,
  cancelled,
  completed,
  deadline,
  failed,
  node_failed,
  outofmemory,
  pending,
  preempted,
  running,
  suspended,
  timeout,
  completing,
  configuring,
  expediting,
  fed_requeued,
  finished,
  hold,
  powerup_node,
  requeued,
  resizing,
  revoked,
  signaling,
  stageout,
  started,
  end
};
using JobStateCounts = std::bitset<static_cast<std::size_t>(JobCount::end)>;

/** A node; without a name: nothing is at this place of slurmctld's table. Memory in MiB. */
struct StateNode {
  std::string name;
  NodeStateCounts counts;
  std::uint64_t cpus = 0;
  std::uint64_t cpus_alloc = 0;
  std::uint64_t cpus_effective = 0;
  std::uint64_t memory = 0;
  std::uint64_t memory_alloc = 0;
  std::uint64_t memory_effective = 0;
  std::uint64_t memory_free = 0;
  std::uint64_t gpus = 0;
  std::uint64_t gpus_alloc = 0;
};

/** A job, or those tasks of a job array that have begun nothing yet. */
struct StateJob {
  std::string user;
  std::string account;
  std::string partition;  ///< of several that it asks for, the first
  JobStateCounts counts;
  std::uint64_t tasks = 1;  ///< of a job array
  // Of a running or suspended job; memory in MiB.
  std::uint64_t nodes_alloc = 0;
  std::uint64_t cpus_alloc = 0;
  std::uint64_t memory_alloc = 0;
  std::uint64_t gpus_alloc = 0;
  // Of a pending job.
  std::uint64_t min_nodes = 0;
  std::uint64_t max_nodes = 0;
  const char* reason = "";  ///< why it waits, one of few words
  bool over_node_limit = false;
  /** Since when it waits: a pending job for its turn, a configuring one for its nodes. */
  std::time_t waits_since = 0;
};

struct StatePartition {
  std::string name;
  std::uint64_t cpus = 0;
  std::uint64_t nodes = 0;
  std::vector<std::uint32_t> members;  ///< places in SlurmState::nodes
};

/** A number of slurmctld's scheduler (sdiag), with the rest of its metric's name behind "slurm_". */
struct StateStatistic {
  const char* name;
  const char* help;
  double value;
};

struct SlurmState {
  // Of slurmctld's answers; 0: none yet.
  std::time_t jobs_since = 0;
  std::time_t nodes_since = 0;
  std::time_t partitions_since = 0;

  std::vector<StateJob> jobs;
  std::vector<StateNode> nodes;
  std::vector<StatePartition> partitions;
  std::vector<StateStatistic> statistics;
};

/** One thread at a time, which need not be that of a Slurm. */
class SlurmStateReader {
 public:
  virtual ~SlurmStateReader() = default;
  /**
   * Brings `state` up to date: one request for jobs, nodes, partitions and statistics each. What has not changed is
   * kept. With an error a part of it may be new. Blocks as Slurm's calls do.
   */
  virtual Status refresh(SlurmState& state) = 0;
};

/** By Slurm's RPCs; after start_slurm_client(). */
std::unique_ptr<SlurmStateReader> make_rpc_state_reader();

}  // namespace slurmk8s
