// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm: what we ask of slurmctld, as two interfaces: SlurmReader and SlurmWriter. lib/slurm/rpc has the ones that
// speak Slurm's RPCs.
//
// Every call blocks until slurmctld answers or Slurm's MessageTimeout is over: never call one under Slurm's locks or
// on the engine's worker thread. An implementation may be used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "slurm/records.hpp"

namespace slurmk8s {

/** What changes nothing. */
class SlurmReader {
 public:
  virtual ~SlurmReader() = default;

  /**
   * All node records, if anything about them has changed since the answer that set `since` (0: at any time); empty when
   * nothing has, which costs slurmctld next to nothing. Sets `since` with the records. Slurm's time has whole seconds:
   * what changed in the second of the last answer is delivered again.
   */
  virtual Result<std::optional<std::vector<SlurmNode>>> load_nodes_since(std::time_t& since) = 0;
  /** All node records. */
  Result<std::vector<SlurmNode>> load_nodes() {
    std::time_t since = 0;
    std::optional<std::vector<SlurmNode>> nodes = SLURMK8S_TRY(load_nodes_since(since));
    return nodes ? *std::move(nodes) : std::vector<SlurmNode>();
  }
  virtual Result<SlurmConfig> load_config() = 0;
  /** One node record; not_found when there is none. */
  virtual Result<SlurmNode> load_node(const std::string& name) = 0;
  /** One job; not_found when slurmctld doesn't know it. */
  virtual Result<SlurmJob> load_job(std::uint32_t id) = 0;
  /**
   * Pending jobs that have a constraint and could start if there were nodes, and suspended ones; `since` and the empty
   * result as of load_nodes_since(). slurmctld sends all jobs for that.
   */
  virtual Result<std::optional<std::vector<SlurmJob>>> load_open_jobs_since(std::time_t& since) = 0;
  /**
   * Hostlists of the nodes of each job that has nodes: it runs, is being configured or suspended, or its end isn't
   * done.
   * Asks for all jobs: rarely, please.
   */
  virtual Result<std::vector<std::string>> load_nodes_of_jobs() = 0;
  /** All jobs that run, are being configured or suspended, or whose end isn't done. Asks for all jobs. */
  virtual Result<std::vector<SlurmRun>> load_runs() = 0;
  /** All jobs that have not ended: pending, running and suspended ones. Asks for all jobs. */
  virtual Result<std::vector<SlurmJobNeeds>> load_job_needs() = 0;
  /** Pending jobs whose time to begin lies ahead by at most `within`. Asks for all jobs, too. */
  virtual Result<std::vector<std::uint32_t>> load_jobs_to_begin(std::chrono::seconds within) = 0;
  /**
   * Ok when slurmctld keeps partitions that were made at run time over a restart and a reconfiguration. Error (invalid)
   * says why it would forget them, which ends their jobs.
   */
  virtual Status check_partitions_persist() = 0;
  /** All partitions, hidden ones too; `since` and the empty result as of load_nodes_since(). */
  virtual Result<std::optional<std::vector<SlurmPartition>>> load_partitions_since(std::time_t& since) = 0;
};

/** What changes something: lib/daemon/fence.hpp has the one that stops with the lease. */
class SlurmWriter {
 public:
  virtual ~SlurmWriter() = default;

  /**
   * Adds nodes to SuspendExcNodes or takes them from it: those in it stay up however long they are idle. slurmctld
   * forgets it when it restarts or reconfigures. Refused before Slurm 23.02, and while an entry has a count
   * (c-[0-9]:2).
   */
  virtual Status exempt_from_suspend(const std::string& hostlist, bool exempt) = 0;
  /**
   * `scontrol create LINE`: "NodeName=c-[0-7] State=CLOUD CPUs=2 …"; one call makes a whole range. None may be there:
   * slurmctld refuses the call, and 24.11 deletes the node that was there.
   */
  virtual Status create_nodes(const std::string& line) = 0;
  /** Deletes dynamic node records; Slurm refuses (conflict) when one of them is busy. */
  virtual Status delete_nodes(const std::string& hostlist) = 0;
  virtual Status update_nodes(const std::string& hostlist, const SlurmNodeUpdate& update) = 0;
  /**
   * Has slurmctld look at its queue of jobs now, by an update of `node` that changes nothing. By itself it looks when
   * an RPC may have made room for a job; what it meant to do is forgotten when it restarts or reconfigures: then a job
   * that could start waits for the backfill scheduler (30 s).
   */
  virtual Status schedule_jobs(const std::string& node) = 0;
  virtual Status create_partition(const SlurmPartition& partition) = 0;
  virtual Status update_partition(const SlurmPartition& change) = 0;
  /** Refused (conflict) while jobs or reservations use it. */
  virtual Status delete_partition(const std::string& name) = 0;
  /** A pending job may begin now, whatever time it was to wait for. */
  virtual Status clear_begin_time(std::uint32_t job) = 0;
  /** `scontrol uhold`: a pending job waits until its user or an administrator releases it. */
  virtual Status hold_job(std::uint32_t job) = 0;
  /**
   * A running job ends as OUT_OF_MEMORY and isn't requeued; of a heterogeneous job the id of its first component, which
   * ends all. Ok and without effect when its end has begun already.
   */
  virtual Status end_out_of_memory(std::uint32_t job) = 0;
  /** Sets a job's AdminComment, or clears it. */
  virtual Status comment_job(std::uint32_t job, const std::string& text) = 0;
  /**
   * Makes the scheduler see records that create_nodes() put into the place of deleted ones: up to Slurm 26.05.2 it
   * passes them over until slurmctld is reconfigured (a bit of share_node_bitmap stays cleared; 80b8cf8efa mends it).
   * Jobs and nodes stay as they are. Nothing is done for a version without the defect.
   */
  virtual Status make_created_nodes_schedulable() = 0;
  /** Has slurmctld forget records that it has lost, by a reconfiguration: see is_lost() in node_state.hpp. */
  virtual Status drop_lost_nodes() = 0;
  /**
   * `scontrol reconfigure`, by which slurmctld restarts itself, with jobs and nodes as they are. Error (invalid) before
   * Slurm 23.11, whose slurmctld goes on with the timers that it has.
   */
  virtual Status restart_slurmctld() = 0;
};

class Slurm : public SlurmReader, public SlurmWriter {
 public:
  /** From now on changes are refused (cancelled): its owner has ended. Any thread, also during another call. */
  virtual void end() {}
};

/** Slurm over its RPCs, as the user that the process runs as: it must be SlurmUser or root. */
std::unique_ptr<Slurm> make_rpc_slurm();

}  // namespace slurmk8s
