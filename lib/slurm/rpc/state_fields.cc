// SPDX-License-Identifier: GPL-2.0-or-later
// Parts of a SlurmState out of libslurm's structs.
#include "slurm/rpc/state_fields.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "base/strings.hpp"
#include "slurm/gpu_count.hpp"
#include "slurm/rpc/text.hpp"

namespace slurmk8s {
namespace {

template <typename Count>
struct Flag {
  std::uint32_t bit;
  Count count;
};

constexpr Flag<NodeCount> kNodeFlags[] = {
    {NODE_STATE_CLOUD, NodeCount::cloud},
    {NODE_STATE_COMPLETING, NodeCount::completing},
    {NODE_STATE_DYNAMIC_FUTURE, NodeCount::dyn_future},
    {NODE_STATE_DYNAMIC_NORM, NodeCount::dyn_normal},
    {NODE_STATE_FAIL, NodeCount::fail},
    {NODE_STATE_INVALID_REG, NodeCount::invalid_reg},
    {NODE_STATE_MAINT, NodeCount::maint},
    {NODE_STATE_NO_RESPOND, NodeCount::noresp},
    {NODE_STATE_PLANNED, NodeCount::planned},
    {NODE_STATE_POWER_DOWN, NodeCount::power_down},
    {NODE_STATE_POWER_UP, NodeCount::power_up},
    {NODE_STATE_POWERED_DOWN, NodeCount::powered_down},
    {NODE_STATE_POWERING_DOWN, NodeCount::powering_down},
    {NODE_STATE_POWERING_UP, NodeCount::powering_up},
    {NODE_STATE_REBOOT_ISSUED, NodeCount::reboot_issued},
    {NODE_STATE_REBOOT_REQUESTED, NodeCount::reboot_req},
    {NODE_STATE_RES, NodeCount::resv},
#ifdef NODE_STATE_BLOCKED
    {NODE_STATE_BLOCKED, NodeCount::blocked},
#endif
#ifdef NODE_STATE_EXTERNAL
    {NODE_STATE_EXTERNAL, NodeCount::external},
#endif
};

constexpr Flag<JobCount> kJobFlags[] = {
    {JOB_COMPLETING, JobCount::completing},
    {JOB_CONFIGURING, JobCount::configuring},
    {JOB_POWER_UP_NODE, JobCount::powerup_node},
    {JOB_REQUEUE, JobCount::requeued},
    {JOB_REQUEUE_FED, JobCount::fed_requeued},
    {JOB_RESIZING, JobCount::resizing},
    {JOB_REVOKED, JobCount::revoked},
    {JOB_SIGNALING, JobCount::signaling},
    {JOB_STAGE_OUT, JobCount::stageout},
#ifdef JOB_EXPEDITING
    {JOB_EXPEDITING, JobCount::expediting},
#endif
};

/** In a table, since the states of jobs are numbered from 0 on. */
constexpr JobCount kJobStates[] = {JobCount::pending,   JobCount::running,  JobCount::suspended, JobCount::completed,
                                   JobCount::cancelled, JobCount::failed,   JobCount::timeout,   JobCount::node_failed,
                                   JobCount::preempted, JobCount::bootfail, JobCount::deadline,  JobCount::outofmemory};
static_assert(JOB_PENDING == 0 && JOB_OOM == std::size(kJobStates) - 1);

NodeCount decode_base(std::uint32_t state) {
  switch (state & NODE_STATE_BASE) {
    case NODE_STATE_DOWN: return NodeCount::down;
    case NODE_STATE_IDLE: return NodeCount::idle;
    case NODE_STATE_ALLOCATED: return NodeCount::alloc;
    case NODE_STATE_MIXED: return NodeCount::mixed;
    case NODE_STATE_FUTURE: return NodeCount::future;
    default: return NodeCount::unknown;
  }
}

template <typename Counts, typename Count>
void set(Counts& counts, Count count) {
  counts.set(static_cast<std::size_t>(count));
}

struct ReasonRange {
  std::uint32_t first;
  std::uint32_t last;
  const char* word;
};

/** Limits of accounts, users and QOS are many: which one it is, `squeue` tells. */
constexpr ReasonRange kReasons[] = {
    {WAIT_NO_REASON, WAIT_NO_REASON, "None"},
    {WAIT_PRIORITY, WAIT_PRIORITY, "Priority"},
    {WAIT_DEPENDENCY, WAIT_DEPENDENCY, "Dependency"},
    {WAIT_RESOURCES, WAIT_RESOURCES, "Resources"},
    {WAIT_PART_NODE_LIMIT, WAIT_PART_INACTIVE, "PartitionLimit"},
    {WAIT_HELD, WAIT_HELD, "JobHeldAdmin"},
    {WAIT_TIME, WAIT_TIME, "BeginTime"},
    {WAIT_LICENSES, WAIT_LICENSES, "Licenses"},
    {WAIT_ASSOC_JOB_LIMIT, WAIT_ASSOC_TIME_LIMIT, "Limit"},
    {WAIT_RESERVATION, WAIT_RESERVATION, "Reservation"},
    {WAIT_NODE_NOT_AVAIL, WAIT_NODE_NOT_AVAIL, "ReqNodeNotAvail"},
    {WAIT_HELD_USER, WAIT_HELD_USER, "JobHeldUser"},
    {WAIT_QOS_THRES, WAIT_QOS_TIME_LIMIT, "Limit"},
    {WAIT_CLEANING, WAIT_CLEANING, "Cleaning"},
    {WAIT_PROLOG, WAIT_PROLOG, "Prolog"},
    {WAIT_QOS, WAIT_ACCOUNT, "Limit"},
    {WAIT_DEP_INVALID, WAIT_DEP_INVALID, "Dependency"},
    {WAIT_QOS_GRP_CPU, WAIT_ASSOC_MAX_SUB_JOB, "Limit"},
    {WAIT_ARRAY_TASK_LIMIT, WAIT_ARRAY_TASK_LIMIT, "JobArrayTaskLimit"},
    {WAIT_ASSOC_GRP_UNK, WAIT_QOS_MIN_BB, "Limit"},
    {WAIT_QOS_MAX_BB_PER_ACCT, WAIT_QOS_MAX_SUB_JOB_PER_ACCT, "Limit"},
    {WAIT_PART_CONFIG, WAIT_PART_CONFIG, "PartitionLimit"},
    {WAIT_ASSOC_GRP_BILLING, WAIT_QOS_MIN_BILLING, "Limit"},
};

/** The value of a key in "cpu=2,mem=4000M": memory in MiB. */
std::uint64_t memory_of(std::string_view tres) {
  for (const std::string_view word : split(tres, ',')) {
    if (!word.starts_with("mem=")) continue;
    const std::string number(word.substr(4));
    const char unit = number.empty() ? 'M' : number.back();
    const double value = std::strtod(number.c_str(), nullptr);
    switch (unit) {
      case 'K': return static_cast<std::uint64_t>(value / 1024);
      case 'G': return static_cast<std::uint64_t>(value * 1024);
      case 'T': return static_cast<std::uint64_t>(value * 1024 * 1024);
      case 'P': return static_cast<std::uint64_t>(value * 1024 * 1024 * 1024);
      default: return static_cast<std::uint64_t>(value);
    }
  }
  return 0;
}

void add_allocation(const job_info_t& info, StateJob& job) {
  job.nodes_alloc = info.num_nodes;
  job.cpus_alloc = info.num_cpus;
  job.memory_alloc = info.tres_alloc_str == nullptr ? 0 : memory_of(info.tres_alloc_str);
  job.gpus_alloc = info.gres_total == nullptr ? 0 : count_gpus(info.gres_total);
}

void add_wish(const job_info_t& info, StateJob& job) {
  job.min_nodes = info.num_nodes;
  job.max_nodes = std::max<std::uint64_t>(info.max_nodes, info.num_nodes);
  job.reason = decode_wait_reason(info.state_reason);
  job.over_node_limit = info.state_reason == WAIT_PART_NODE_LIMIT;
  job.waits_since = info.eligible_time;
}

}  // namespace

NodeStateCounts decode_node_counts(std::uint32_t node_state) {
  NodeStateCounts counts;
  const NodeCount base = decode_base(node_state);
  set(counts, base);
  for (const auto& flag : kNodeFlags) {
    if ((node_state & flag.bit) != 0) set(counts, flag.count);
  }
  if ((node_state & NODE_STATE_DRAIN) == 0) return counts;
  if (base == NodeCount::alloc || base == NodeCount::mixed) {
    set(counts, NodeCount::draining);
  } else {
    set(counts, NodeCount::drain);
    set(counts, NodeCount::drained);
  }
  return counts;
}

StateNode decode_state_node(const node_info_t& info) {
  StateNode node;
  node.name = text_of(info.name);
  node.counts = decode_node_counts(info.node_state);
  node.cpus = info.cpus;
  node.cpus_effective = info.cpus_efctv;
  node.memory = info.real_memory;
  node.memory_effective = info.real_memory - std::min(info.real_memory, info.mem_spec_limit);
  node.memory_free = info.free_mem == NO_VAL64 ? 0 : info.free_mem;
  node.gpus = info.gres == nullptr ? 0 : count_gpus(info.gres);
  node.gpus_alloc = info.gres_used == nullptr ? 0 : count_gpus(info.gres_used);
  return node;
}

JobStateCounts decode_job_counts(std::uint32_t job_state, std::uint32_t reason) {
  JobStateCounts counts;
  const std::uint32_t base = job_state & JOB_STATE_BASE;
  if (base < std::size(kJobStates)) set(counts, kJobStates[base]);
  if (base > JOB_PENDING) set(counts, JobCount::started);
  if (base > JOB_SUSPENDED) set(counts, JobCount::finished);
  if (base == JOB_PENDING && (reason == WAIT_HELD || reason == WAIT_HELD_USER)) set(counts, JobCount::hold);
  for (const auto& flag : kJobFlags) {
    if ((job_state & flag.bit) != 0) set(counts, flag.count);
  }
  return counts;
}

StateJob decode_state_job(const job_info_t& info) {
  StateJob job;
  job.user = text_of(info.user_name);
  job.account = text_of(info.account);
  const std::string partitions = text_of(info.partition);
  job.partition = partitions.substr(0, partitions.find(','));
  job.counts = decode_job_counts(info.job_state, info.state_reason);
  const std::uint32_t base = info.job_state & JOB_STATE_BASE;
  const bool runs = base == JOB_RUNNING || base == JOB_SUSPENDED;
  if (base == JOB_PENDING) add_wish(info, job);
  if (runs) add_allocation(info, job);
  // Tasks that have not started are one record, also when they were cancelled.
  if (!runs && info.array_task_str != nullptr) job.tasks = count_tasks(info.array_task_str);
  if ((info.job_state & JOB_CONFIGURING) != 0) job.waits_since = info.start_time;
  return job;
}

StatePartition decode_state_partition(const partition_info_t& info, std::size_t nodes) {
  StatePartition partition;
  partition.name = text_of(info.name);
  partition.cpus = info.total_cpus;
  partition.nodes = info.total_nodes;
  if (info.node_inx == nullptr) return partition;
  // Pairs of the first and the last one of a range; -1 ends them.
  for (const std::int32_t* pair = info.node_inx; pair[0] >= 0 && pair[1] >= 0; pair += 2) {
    const auto end = std::min<std::size_t>(static_cast<std::size_t>(pair[1]) + 1, nodes);
    for (auto i = static_cast<std::size_t>(pair[0]); i < end; i++) {
      partition.members.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return partition;
}

const char* decode_wait_reason(std::uint32_t reason) {
  for (const ReasonRange& range : kReasons) {
    if (reason >= range.first && reason <= range.last) return range.word;
  }
  return "Other";
}

std::uint64_t count_tasks(std::string_view array) {
  std::uint64_t count = 0;
  for (std::string_view range : split(array.substr(0, array.find('%')), ',')) {
    std::int64_t step = 1;
    if (const std::size_t colon = range.find(':'); colon != std::string_view::npos) {
      step = std::max<std::int64_t>(1, parse_int(range.substr(colon + 1)).value_or(1));
      range = range.substr(0, colon);
    }
    const std::size_t dash = range.find('-');
    const auto first = parse_int(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int(range.substr(dash + 1));
    if (first && last && *first >= 0 && *last >= *first)
      count += static_cast<std::uint64_t>((*last - *first) / step + 1);
  }
  return std::max<std::uint64_t>(1, count);
}

}  // namespace slurmk8s
