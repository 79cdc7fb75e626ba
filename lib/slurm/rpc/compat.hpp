// SPDX-License-Identifier: GPL-2.0-or-later
// What differs between Slurm's public headers from 22.05 to 26.05, as far as lib/slurm cares.
#pragma once

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>

// In libslurm and its headers for Slurm's own programs, but not in the public ones. tests/compat/plugins.sh compares
// these declarations with Slurm's.
extern "C" {

/** Its first members. Nodes are in the order of slurmctld's table: `reps` nodes in a row have `value` CPUs each. */
struct job_resources {
  bitstr_t* core_bitmap;
  bitstr_t* core_bitmap_used;
  uint32_t cpu_array_cnt;
  uint16_t* cpu_array_value;
  uint32_t* cpu_array_reps;
};

char* slurm_job_state_string(uint32_t inx);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
const char* slurm_job_state_reason_string(enum job_state_reason inx);
#else
char* slurm_job_reason_string(enum job_state_reason inx);
#endif

}  // extern "C"

namespace slurmk8s::compat {

/** SIG_OOM of src/common/slurm_protocol_defs.h: _job_complete() makes JOB_OOM of it, in 22.05.8, 24.11.5 and 26.05. */
inline constexpr std::uint32_t kOutOfMemory = 253;

/** Slurm's error codes of node creation; before 23.11 it doesn't have them, and never answers with these. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
inline constexpr int kNodeAlreadyExists = ESLURM_NODE_ALREADY_EXISTS;
inline constexpr int kNodeTableFull = ESLURM_NODE_TABLE_FULL;
#else
inline constexpr int kNodeAlreadyExists = -2;
inline constexpr int kNodeTableFull = -3;
#endif

/** A create of a node that is there deletes it: _build_node_callback() in node_mgr.c of 24.11.5; not so in 22.05. */
inline constexpr bool kCreateDeletesKnown = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 0);

/** Whether slurmctld restarts itself to read its configuration again. */
inline constexpr bool kReconfigureRestarts = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0);

/** SchedulerParameters has requeue_delay. */
inline constexpr bool kHasRequeueDelay = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0);

/**
 * From 26.05 on slurmctld saves SuspendTime of a node that was made at run time. A state of 25.11 or older has none:
 * node_record_unpack() leaves 0, which no reconfiguration changes (config_record_from_node_record()).
 */
inline bool has_no_suspend_time([[maybe_unused]] const node_info_t& node) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
  return node.suspend_time == 0;
#else
  return false;
#endif
}

/**
 * External nodes and jobs, which are there from 25.05 on. Older ones than 26.05 take such a node for silent at a
 * reconfiguration or when it is undrained (_require_node_reg() in node_mgr.c).
 */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
inline constexpr bool kHasExternalNodes = true;
inline constexpr std::uint64_t kExternalJob = EXTERNAL_JOB;
inline bool is_external(std::uint32_t node_state) { return (node_state & NODE_STATE_EXTERNAL) != 0; }
#else
inline constexpr bool kHasExternalNodes = false;
inline constexpr std::uint64_t kExternalJob = 0;
inline bool is_external([[maybe_unused]] std::uint32_t node_state) { return false; }
#endif

/** A node created in the slot of a deleted one is never scheduled before slurmctld is reconfigured. */
inline constexpr bool kReusedSlotIsUnseen = SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 3);

/**
 * Whether slurmctld reads back at its start what it saved of partitions that slurm.conf doesn't have (ReconfigFlags=
 * KeepPartInfo). Older ones do that at a reconfiguration only: a restart ends the jobs of such a partition.
 */
inline constexpr bool kKeepsPartitions = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0);

/**
 * Whether slurmctld keeps track of which variant a node runs: older ones take all for active at their start
 * (_set_features() in read_config.c), and leave one active when a node is powered down.
 */
inline constexpr bool kKnowsVariants = SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0);

/** Says who gives the reason of an update; from 26.05 on slurmctld takes that from the request's credential. */
inline void set_reason_uid([[maybe_unused]] update_node_msg_t& message, [[maybe_unused]] uid_t uid) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
  message.reason_uid = uid;
#endif
}

/** Names the job of an update. */
inline void set_job(job_desc_msg_t& message, std::uint32_t job) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
  message.job_id = job;
#else
  message.step_id.job_id = job;
#endif
}

/** slurm_complete_job(): 0, or -1 with errno. */
inline int complete_job(std::uint32_t job, std::uint32_t return_code) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
  return slurm_complete_job(job, return_code);
#else
  slurm_step_id_t id = SLURM_STEP_ID_INITIALIZER;
  id.job_id = job;
  return slurm_complete_job(&id, return_code);
#endif
}

/**
 * Whether slurmctld makes the job of REQUEST_RESOURCE_ALLOCATION one of the user that it is asked to, when SlurmUser
 * asks. From 23.02.5 on (defe1a6810) it takes user and group from the credential alone (24.11.5: proc_req.c:1233).
 */
inline constexpr bool kAllocatesForOthers = SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 5);

/** What the name of a Gres has before it in a list of TRES. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
inline constexpr const char* kGresPrefix = "gres/";
#else
inline constexpr const char* kGresPrefix = "gres:";
#endif

/** The job of a new allocation. */
inline std::uint32_t job_of(const resource_allocation_response_msg_t& answer) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 11, 0)
  return answer.job_id;
#else
  return answer.step_id.job_id;
#endif
}

/** Whose job a new allocation is; empty: slurmctld doesn't say, before 23.02. */
inline std::optional<std::uint32_t> user_of([[maybe_unused]] const resource_allocation_response_msg_t& answer) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  return answer.uid;
#else
  return std::nullopt;
#endif
}

/** The word for a job's reason, as squeue has it: "Resources"; "None" when there is none. */
inline const char* reason_word(std::uint32_t reason) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0)
  return slurm_job_state_reason_string(static_cast<job_state_reason>(reason));
#else
  return slurm_job_reason_string(static_cast<job_state_reason>(reason));
#endif
}

/**
 * slurm_load_job() of one job: 0, or -1 with errno. SHOW_LOCAL saves a second call: without it libslurm first asks
 * whether slurmctld is in a federation (REQUEST_FED_INFO, job_info.c:591 of 24.11).
 */
inline int load_job(job_info_msg_t** answer, std::uint32_t job, std::uint16_t flags = SHOW_ALL) {
  flags |= SHOW_LOCAL;
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
  return slurm_load_job(answer, job, flags);
#else
  slurm_step_id_t id{};
  id.job_id = job;
  id.step_het_comp = id.step_id = NO_VAL;
  return slurm_load_job(answer, id, flags);
#endif
}

/** A job's --extra, which Slurm has from 23.02 on. */
inline std::string extra_of([[maybe_unused]] const job_info_t& job) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  return job.extra ? job.extra : "";
#else
  return {};
#endif
}

/** Gives a job to be submitted an --extra, where Slurm has it. */
inline void set_extra([[maybe_unused]] job_desc_msg_t& message, [[maybe_unused]] char* extra) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
  message.extra = extra;
#endif
}

/** A node's topology, which can be changed at run time from 25.05 on; empty: before that. */
inline std::optional<std::string> topology_of([[maybe_unused]] const node_info_t& node) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
  return node.topology_str ? node.topology_str : "";
#else
  return std::nullopt;
#endif
}

/** Gives another topology. */
inline void set_topology([[maybe_unused]] update_node_msg_t& message, [[maybe_unused]] char* topology) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 5, 0)
  message.topology_str = topology;
#endif
}

/** Whether SuspendExcNodes can be changed at run time, and doing it: returns one of Slurm's codes, and sets errno. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
inline constexpr bool kCanExempt = true;
inline int exempt_from_suspend(char* nodes, bool exempt) {
  return slurm_update_suspend_exc_nodes(nodes, exempt ? UPDATE_ADD : UPDATE_REMOVE);
}
#else
inline constexpr bool kCanExempt = false;
inline int exempt_from_suspend(char*, bool) {
  errno = ESLURM_NOT_SUPPORTED;
  return SLURM_ERROR;
}
#endif

/** What jobs have of a node. Before 25.05 the select plugin knows it; MiB of memory. */
inline void allocation_of(const node_info_t& node, std::uint16_t& cpus, std::uint64_t& memory) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(25, 5, 0)
  if (node.select_nodeinfo == nullptr) return;
  slurm_get_select_nodeinfo(node.select_nodeinfo, SELECT_NODEDATA_SUBCNT, NODE_STATE_ALLOCATED, &cpus);
  slurm_get_select_nodeinfo(node.select_nodeinfo, SELECT_NODEDATA_MEM_ALLOC, NODE_STATE_ALLOCATED, &memory);
#else
  cpus = node.alloc_cpus;
  memory = node.alloc_memory;
#endif
}

/** Why cycles of the schedulers ended, as counts; null: before 23.11. Of the answer's lifetime. */
struct Exits {
  const std::uint32_t* schedule = nullptr;
  std::uint32_t schedule_count = 0;
  const std::uint32_t* backfill = nullptr;
  std::uint32_t backfill_count = 0;
};
inline Exits exits_of([[maybe_unused]] const stats_info_response_msg_t& answer) {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
  return {answer.schedule_exit, answer.schedule_exit_cnt, answer.bf_exit, answer.bf_exit_cnt};
#else
  return {};
#endif
}

/** Frees what slurm_load_ctl_conf() made; the function got another name in 26.05. */
inline void free_conf(slurm_conf_t* conf) {
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
  slurm_free_ctl_conf(conf);
#else
  slurm_free_conf(conf);
#endif
}

}  // namespace slurmk8s::compat
