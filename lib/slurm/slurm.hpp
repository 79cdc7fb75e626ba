// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm: what we ask of slurmctld, as an interface. lib/slurm has the one that speaks Slurm's RPCs.
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
#include "slurm/partition_options.hpp"

namespace slurmk8s {

/** A node record of Slurm: the parts of it that decide what becomes of its pod. */
struct SlurmNode {
  enum class Base { unknown, down, idle, allocated, mixed, error, future };

  std::string name;
  Base base = Base::unknown;
  bool cloud = false;
  bool dynamic = false;  ///< made at run time (scontrol create), so that it may be deleted
  bool powering_up = false;
  bool powered_down = false;
  bool powering_down = false;     ///< POWERING_DOWN: SuspendProgram was called
  bool power_down_asked = false;  ///< POWER_DOWN: slurmctld will suspend it, when the jobs that it has are over
  bool power_up_asked = false;    ///< POWER_UP: slurmctld will resume it
  bool draining = false;
  bool completing = false;
  bool not_responding = false;
  /** A suspended job has it, which its state doesn't say: only of the sidecar's Reconciler, which asks for jobs. */
  bool has_suspended_job = false;
  bool reserved = false;
  bool maintenance = false;  ///< MAINT: in a maintenance reservation that has begun; then it is reserved, too
  std::uint32_t cpus = 0;
  std::uint64_t real_memory_mib = 0;
  std::uint64_t core_spec_count = 0;
  std::uint64_t mem_spec_limit_mib = 0;
  std::uint64_t cores_per_socket = 0;
  std::uint64_t threads_per_core = 0;
  std::uint64_t weight = 1;
  std::string features;                 ///< all that it can have: AvailableFeatures
  std::string active_features;          ///< those that it has, or is being booted with
  std::optional<std::string> topology;  ///< without a value: this Slurm can't change it at run time
  std::string reason;
  std::string comment;
  /** NodeAddr: the node's own name until its slurmd has registered, and again when it is powered down. */
  std::string address;
  /** What slurmd said when it registered; zero before, and again after a restart of slurmctld. */
  std::chrono::system_clock::time_point boot_time{};

  /** Being suspended, or going to be. */
  bool going_down() const { return powering_down || power_down_asked; }
};

/**
 * A change of one or more node records; empty members stay as they are. `undrain` without a reason takes the drain's
 * Reason back, too: cleared, or kReasonReleased where slurmctld would keep it.
 */
struct SlurmNodeUpdate {
  enum class State { keep, down, drain, undrain, resume, power_up, power_down, power_down_asap, power_down_force };
  State state = State::keep;
  std::string reason;  ///< with down and drain required
  std::string comment;
  bool clear_comment = false;
  std::optional<std::string> features;         ///< the new list, in the place of the old one
  std::optional<std::string> active_features;  ///< with features
  std::optional<std::uint64_t> weight;
  std::optional<std::string> topology;  ///< only for nodes that have one
};

/** A job: what it asks for. Texts are the user's, and empty when nothing was said. */
struct SlurmJob {
  std::uint32_t id = 0;
  std::string name;
  std::string user;  ///< name, or uid where slurmctld knows none
  std::string account;
  std::string partitions;  ///< names with commas
  std::string qos;
  std::string reservation;
  std::string extra;        ///< --extra; from Slurm 23.02 on
  std::string features;     ///< --constraint
  std::string memory;       ///< in all, "4000M"
  std::string gres;         ///< in all, "gpu=2,gpu:a100=1"
  std::uint32_t cpus = 0;   ///< in all
  std::uint32_t nodes = 0;  ///< at least
  bool waits = false;       ///< pending, and only for resources or its turn
  std::string admin_comment;
  bool pending = false;  ///< also while the end of its former run is not done: then it is completing, too
  bool completing = false;
  bool held = false;  ///< by its user or an administrator
  bool cron = false;  ///< of scrontab
  std::uint32_t restarts = 0;
  std::time_t submitted = 0;    ///< a requeue sets it again
  std::time_t begin = 0;        ///< a pending one's time to begin
  std::string partition_nodes;  ///< hostlist, all nodes of its partitions; only of load_open_jobs_since()
  bool suspended = false;
  std::string held_nodes;  ///< hostlist, of a suspended one; only of load_open_jobs_since()

  bool operator==(const SlurmJob&) const = default;
};

/** A job that runs, or is being configured. */
struct SlurmRun {
  std::uint32_t id = 0;
  std::uint32_t het_id = 0;  ///< of the first component of a heterogeneous job; 0: it isn't one
  std::uint32_t restarts = 0;
  std::time_t submitted = 0;
  std::string nodes;  ///< hostlist
  std::time_t started = 0;
};

/** What we need of slurmctld's configuration. */
struct SlurmConfig {
  /** Most node records that slurmctld can hold, static ones included: MaxNodeCount, or Slurm's own limit. */
  std::int64_t max_nodes = 0;
  /** SuspendExcNodes as slurmctld has it; empty before Slurm 23.02, which can't change it at run time. */
  std::optional<std::string> suspend_exc_nodes;
  /** NodeFeaturesPlugins and JobSubmitPlugins have k8s. */
  bool has_node_features = true;
  /** How long slurmctld keeps a requeued job from beginning: AuthInfo=cred_expire, or requeue_delay of 26.05. */
  std::chrono::seconds requeue_delay{120};
  /** GresTypes: names with commas; without a value: not known. */
  std::optional<std::string> gres_types = {};
  /** When slurmctld started, or read its configuration again. */
  std::time_t booted = 0;
  bool operator==(const SlurmConfig&) const = default;
};

/** A partition: as Slurm has it, or what of it is to be set. */
struct SlurmPartition {
  std::string name;
  std::string nodes;         ///< hostlist; of a change, empty: they stay
  PartitionOptions options;  ///< of a change, only those that it sets
};

class Slurm {
 public:
  virtual ~Slurm() = default;

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
  /**
   * Adds nodes to SuspendExcNodes or takes them from it: those in it stay up however long they are idle. slurmctld
   * forgets it when it restarts or reconfigures. Refused before Slurm 23.02, and while an entry has a count
   * (c-[0-9]:2).
   */
  virtual Status exempt_from_suspend(const std::string& hostlist, bool exempt) = 0;
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
   * Asks for all jobs: seldom, please.
   */
  virtual Result<std::vector<std::string>> load_nodes_of_jobs() = 0;
  /** All jobs that run or are being configured, suspended ones too. Asks for all jobs. */
  virtual Result<std::vector<SlurmRun>> load_runs() = 0;
  /** Pending jobs whose time to begin lies ahead by at most `within`. Asks for all jobs, too. */
  virtual Result<std::vector<std::uint32_t>> load_jobs_to_begin(std::chrono::seconds within) = 0;
  /** `scontrol create LINE`: "NodeName=c-[0-7] State=CLOUD CPUs=2 …"; one call makes a whole range. */
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
  /**
   * Ok when slurmctld keeps partitions that were made at run time over a restart and a reconfiguration. Error (invalid)
   * says why it would forget them, which ends their jobs.
   */
  virtual Status check_partitions_persist() = 0;
  /** All partitions, hidden ones too; `since` and the empty result as of load_nodes_since(). */
  virtual Result<std::optional<std::vector<SlurmPartition>>> load_partitions_since(std::time_t& since) = 0;
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
  /** From now on changes are refused (cancelled): its owner has ended. Any thread, also during another call. */
  virtual void end() {}
};

/** Slurm over its RPCs, as the user that the process runs as: it must be SlurmUser or root. */
std::unique_ptr<Slurm> make_rpc_slurm();

}  // namespace slurmk8s
