// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's records, as far as we know them: nodes, jobs, partitions, the configuration; and changes of them.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "slurm/partition_options.hpp"

namespace slurmk8s {

/** A node record of Slurm: the parts of it that decide what becomes of its pod. */
struct SlurmNode {
  enum class Base { unknown, down, idle, allocated, mixed, error, future };

  std::string name;
  Base base = Base::unknown;
  bool cloud = false;
  bool external = false;  ///< State=EXTERNAL: without slurmd, for external jobs alone
  bool dynamic = false;   ///< made at run time (scontrol create), so that it may be deleted
  bool powering_up = false;
  bool powered_down = false;
  bool powering_down = false;     ///< POWERING_DOWN: SuspendProgram was called
  bool power_down_asked = false;  ///< POWER_DOWN: slurmctld will suspend it, when the jobs that it has are over
  bool power_up_asked = false;    ///< POWER_UP: slurmctld will resume it
  bool reboot_issued = false;     ///< REBOOT_ISSUED: RebootProgram was called (scontrol reboot)
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
  /** It is suspended whenever it is idle, although slurm.conf has a SuspendTime: see compat::has_no_suspend_time(). */
  bool has_no_suspend_time = false;
  std::string gres;                     ///< "gpu:a100:2(S:0),foo:1", in Slurm's own words
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
  auto operator<=>(const SlurmNodeUpdate&) const = default;
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
  bool ended = false;  ///< its last run, and there will be no other
  bool held = false;   ///< by its user or an administrator
  bool cron = false;   ///< of scrontab
  std::uint32_t restarts = 0;
  std::time_t submitted = 0;    ///< a requeue sets it again
  std::time_t begin = 0;        ///< a pending one's time to begin
  std::string partition_nodes;  ///< hostlist, all nodes of its partitions; only of load_open_jobs_since()
  bool suspended = false;
  std::string suspended_on;  ///< hostlist, of a suspended one; only of load_open_jobs_since()

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
  std::string batch_host;    ///< node of the batch script; only of a batch job that is launched and not suspended
  bool configuring = false;  ///< it waits for its nodes
  bool completing = false;   ///< its end has begun, and is not done: processes of it may run
};

/** What a job that has not ended names: slurmctld ends it when it reads a configuration that lacks one of these. */
struct SlurmJobNeeds {
  std::uint32_t id = 0;
  std::string partitions;      ///< names with commas
  std::string nodes;           ///< hostlist: those that it has
  std::string required_nodes;  ///< hostlist: --nodelist
};

/** What we need of slurmctld's configuration. */
struct SlurmConfig {
  /** Most node records that slurmctld can hold, static ones included: MaxNodeCount, or Slurm's own limit. */
  std::int64_t max_nodes = 0;
  /** SuspendExcNodes as slurmctld has it; empty before Slurm 23.02, which can't change it at run time. */
  std::optional<std::string> suspend_exc_nodes;
  /** NodeFeaturesPlugins and JobSubmitPlugins have k8s. */
  bool has_node_features = true;
  bool has_external_nodes = true;  ///< Slurm has State=EXTERNAL, as we need it
  /** How long slurmctld keeps a requeued job from beginning: AuthInfo=cred_expire, or requeue_delay of 26.05. */
  std::chrono::seconds requeue_delay{120};
  /** BatchStartTimeout and MessageTimeout. */
  std::chrono::seconds batch_start_timeout{10};
  std::chrono::seconds message_timeout{10};
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

}  // namespace slurmk8s
