// SPDX-License-Identifier: GPL-2.0-or-later
// Allocations: jobs of Slurm without a script, whose nodes are for the pods of a Kubernetes workload.
//
// Every call blocks until slurmctld answers or Slurm's MessageTimeout is over. One thread at a time.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** A job to submit. Slurm's default holds for empty texts, zeros and missing values. */
struct AllocationRequest {
  std::string name;
  std::string comment;      ///< --comment: `namespace/name` of the workload
  std::string extra;        ///< --extra; only a Slurm that has it, 23.02 and later
  std::uint32_t user = 0;   ///< uid, from 1 to 2³¹ - 1
  std::uint32_t group = 0;  ///< gid, from 1 to 2³¹ - 1
  std::string user_name;    ///< in Slurm's accounting, where slurmctld does not know the uid; Slurm 24.05 and later
  std::string account;
  std::string partition;
  std::string qos;
  std::string reservation;
  std::string features;  ///< --constraint
  std::string licenses;
  std::string wckey;
  std::string gres;                  ///< of each task, as --gres has it: "gpu:2", "gpu:a100:1"; "gres/" may precede it
  std::uint32_t tasks = 1;           ///< one for each pod
  std::uint32_t min_nodes = 1;       ///< at least
  std::uint32_t max_nodes = 1;       ///< at most
  std::uint32_t tasks_per_node = 0;  ///< at most; 0: as many as fit
  std::uint32_t cpus_per_task = 1;
  std::uint64_t memory_per_cpu_mib = 0;  ///< 0: Slurm's default
  std::optional<std::uint32_t> minutes;  ///< time limit
  std::optional<std::uint32_t> priority;
  std::int32_t nice = 0;
  bool exclusive = false;
  std::vector<std::string> only_nodes;  ///< it may run on no others; empty: on any. Too many others are refused
  std::vector<std::string> not_nodes;   ///< it may not run on these; too many are refused
  bool held = false;
  bool external = false;  ///< it may have external nodes, too; without effect before Slurm 26.05
};

/** A node of an allocation, and what of it the job has. */
struct AllocatedNode {
  std::string name;
  std::uint32_t cpus = 0;
  std::uint32_t gpus = 0;
  std::uint64_t memory_mib = 0;  ///< 0: unknown. A job's owner may change it by scontrol while the job waits
  bool operator==(const AllocatedNode&) const = default;
};

/** An allocation as slurmctld has it. */
struct Allocation {
  enum class State { pending, configuring, running, suspended, ended };

  std::uint32_t id = 0;
  std::time_t submitted = 0;  ///< with the id: which job it is, whatever slurmctld has forgotten
  State state = State::pending;
  bool completing = false;  ///< nodes are still being taken back
  std::string state_name;   ///< Slurm's word, of the base state: "RUNNING", "TIMEOUT", "PREEMPTED"
  std::string reason;       ///< Slurm's word: "Resources", "QOSMaxNodePerUserLimit"; "None"
  std::string state_desc;   ///< more about that; mostly empty
  std::string name;
  bool has_script = false;  ///< of sbatch: submit() made it not
  std::string comment;
  std::string extra;
  std::uint32_t uid = 0;  ///< whose it is: unlike Comment and Extra, a user can't change it
  std::string user;
  std::uint32_t priority = 0;
  std::uint32_t position = 0;  ///< among the jobs that wait for its partition, from 1; 0: unknown, held, or not waiting
  std::time_t started = 0;     ///< of a pending one: when it is expected to start; 0: unknown
  std::time_t preempted = 0;   ///< when it was told to go; 0: it wasn't
  std::uint32_t cpus_per_task = 0;  ///< at least as many as were asked for: MaxMemPerCPU makes them more; 0: unknown
  std::vector<AllocatedNode>
      nodes;  ///< as Slurm lists them, sorted; none while it is pending. CPUs and GPUs may be 0 at its end
};

class Allocations {
 public:
  virtual ~Allocations() = default;

  /**
   * Submits. The job may start within the call, or wait. Errors: invalid and forbidden are Slurm's refusal, in its
   * words; the same request would be refused again. forbidden also when slurmctld takes the job for another user's,
   * since JobSubmitPlugins lacks k8s (Slurm 23.02.5 and later): the job is cancelled. unavailable: it is not known
   * whether slurmctld has it; load_since() tells.
   */
  virtual Result<std::uint32_t> submit(const AllocationRequest& request) = 0;
  /**
   * All jobs whose Comment begins with `comment_prefix`, and those of `ids`; ended ones until slurmctld forgets them.
   * Empty when nothing about any job has changed since the answer that set `since` (0: at any time). Slurm's time has
   * whole seconds: what changed in the second of the last answer is delivered again. slurmctld sends all jobs for that.
   */
  virtual Result<std::optional<std::vector<Allocation>>> load_since(std::time_t& since,
                                                                    const std::string& comment_prefix,
                                                                    const std::set<std::uint32_t>& ids) = 0;
  /** One job, whatever its Comment, without its position; none: slurmctld does not know it. */
  virtual Result<std::optional<Allocation>> load(std::uint32_t job) = 0;
  /**
   * Ends a job with a result as wait() has it: 0 COMPLETED; 256 × an exit code FAILED. One that waits: CANCELLED,
   * whatever the result. Ok and without effect when it has ended, or slurmctld doesn't know it.
   */
  virtual Status complete(std::uint32_t job, std::uint32_t wait_status) = 0;
  /** As complete(), as OUT_OF_MEMORY. */
  virtual Status end_out_of_memory(std::uint32_t job) = 0;
  /** scancel; without effect as complete(). */
  virtual Status cancel(std::uint32_t job) = 0;
};

/** Over Slurm's RPCs, as the user that the process runs as: it must be SlurmUser or root. */
std::unique_ptr<Allocations> make_rpc_allocations();

}  // namespace slurmk8s
