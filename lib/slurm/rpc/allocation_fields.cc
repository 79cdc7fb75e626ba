// SPDX-License-Identifier: GPL-2.0-or-later
// An allocation into and out of libslurm's structs.
#include "slurm/rpc/allocation_fields.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/allocation_user.hpp"
#include "base/strings.hpp"
#include "slurm/gpu_count.hpp"
#include "slurm/hostlist.hpp"
#include "slurm/rpc/text.hpp"

namespace slurmk8s {
namespace {

/** libslurm's structs have `char *` for texts that it only reads, and null for those that aren't given. */
char* optional_text(const std::string& value) { return value.empty() ? nullptr : const_cast<char*>(value.c_str()); }

/** "gres/gpu:2,gres/nic:1" with the prefix that this Slurm has. */
std::string tres_of(const std::string& gres) {
  constexpr std::string_view kOurs = "gres/";
  std::string tres;
  for (const std::string_view word : split(gres, ',')) {
    if (word.empty()) continue;
    const std::string_view name = word.starts_with(kOurs) ? word.substr(kOurs.size()) : word;
    tres += (tres.empty() ? "" : ",") + (compat::kGresPrefix + std::string(name));
  }
  return tres;
}

Allocation::State state_of(std::uint32_t state) {
  switch (state & JOB_STATE_BASE) {
    case JOB_PENDING: return Allocation::State::pending;
    case JOB_SUSPENDED: return Allocation::State::suspended;
    case JOB_RUNNING:
      return state & (JOB_CONFIGURING | JOB_POWER_UP_NODE) ? Allocation::State::configuring
                                                           : Allocation::State::running;
    default: return Allocation::State::ended;
  }
}

/** MiB that the job has of a node with that many CPUs of it; 0: all that the node has, or unknown. */
std::uint64_t memory_on_node(const job_info_t& info, std::uint32_t cpus) {
  if (info.pn_min_memory == NO_VAL64) return 0;
  const bool is_per_cpu = (info.pn_min_memory & MEM_PER_CPU) != 0;
  return is_per_cpu ? (info.pn_min_memory & ~MEM_PER_CPU) * cpus : info.pn_min_memory;
}

/** What the job has of each of its nodes, in the order of slurmctld's table of nodes. */
std::vector<AllocatedNode> sizes_in_table_order(const job_info_t& info) {
  std::vector<AllocatedNode> sizes;
  const job_resources* resources = info.job_resrcs;
  if (!resources || !resources->cpu_array_value || !resources->cpu_array_reps) return sizes;
  for (std::uint32_t i = 0; i < resources->cpu_array_cnt; ++i) {
    const std::size_t count = std::min<std::size_t>(resources->cpu_array_reps[i], kMaxHosts - sizes.size());
    sizes.insert(sizes.end(), count, AllocatedNode{{}, resources->cpu_array_value[i]});
  }
  for (AllocatedNode& size : sizes) size.memory_mib = memory_on_node(info, size.cpus);
  for (std::size_t i = 0; i < std::min<std::size_t>(info.gres_detail_cnt, sizes.size()); ++i) {
    const char* const gres = info.gres_detail_str == nullptr ? nullptr : info.gres_detail_str[i];
    if (gres != nullptr) sizes[i].gpus = static_cast<std::uint32_t>(std::min<std::uint64_t>(count_gpus(gres), NO_VAL));
  }
  return sizes;
}

/** Indices of the job's nodes in slurmctld's table, ascending: node_inx has pairs (first, last), and ends with -1. */
std::vector<std::size_t> indices_of(const job_info_t& info) {
  std::vector<std::size_t> indices;
  for (const int32_t* pair = info.node_inx; pair && pair[0] >= 0 && pair[1] >= pair[0]; pair += 2) {
    for (int32_t i = pair[0]; i <= pair[1] && indices.size() < kMaxHosts; ++i) {
      indices.push_back(static_cast<std::size_t>(i));
    }
  }
  return indices;
}

/** info.nodes is sorted by name, sizes are by the order of the table: of nodes made at run time that is another one. */
std::vector<AllocatedNode> decode_nodes(const job_info_t& info, const std::vector<std::string>& node_names) {
  std::vector<AllocatedNode> nodes;
  const Result<std::vector<std::string>> names = expand_hostlist(text_of(info.nodes));
  if (!names.ok()) return nodes;
  const std::vector<AllocatedNode> sizes = sizes_in_table_order(info);
  const std::vector<std::size_t> indices = indices_of(info);
  std::map<std::string_view, const AllocatedNode*> by_name;
  for (std::size_t i = 0; i < std::min(sizes.size(), indices.size()); ++i) {
    if (indices[i] < node_names.size()) by_name[node_names[indices[i]]] = &sizes[i];
  }
  AllocatedNode smallest;
  if (!sizes.empty()) smallest = sizes.front();
  for (const AllocatedNode& size : sizes) {
    smallest.cpus = std::min(smallest.cpus, size.cpus);
    smallest.gpus = std::min(smallest.gpus, size.gpus);
    smallest.memory_mib = std::min(smallest.memory_mib, size.memory_mib);
  }
  for (const std::string& name : *names) {
    const auto found = by_name.find(name);
    nodes.push_back(found == by_name.end() ? smallest : *found->second);
    nodes.back().name = name;
  }
  return nodes;
}

}  // namespace

Status check_request(const AllocationRequest& request) {
  const auto refuse = [](const char* what) { return Status(Error(Errc::invalid, std::string("job: ") + what)); };
  for (const std::uint32_t id : {request.user, request.group}) {
    if (id == 0 || id > INT32_MAX) return refuse("uid and gid must be 1 to 2147483647");
  }
  if (!request.user_name.empty() && !is_user_name(request.user_name)) return refuse("its user's name is invalid");
  if (request.tasks == 0 || request.cpus_per_task == 0) return refuse("needs a task and a CPU for it");
  if (request.cpus_per_task >= NO_VAL16) return refuse("too many CPUs for each task");
  if (request.tasks_per_node >= NO_VAL16) return refuse("too many tasks on each node");
  if (std::uint64_t{request.tasks} * request.cpus_per_task >= NO_VAL) return refuse("too many CPUs");
  if (request.min_nodes == 0 || request.max_nodes < request.min_nodes) return refuse("must have 1 to max_nodes nodes");
  if ((request.memory_per_cpu_mib & MEM_PER_CPU) != 0) return refuse("too much memory");
  return {};
}

bool requires_node(const AllocationRequest& request) {
  return request.only_nodes.size() == 1 && request.min_nodes == 1;
}

Result<std::string> excluded_nodes(const AllocationRequest& request, const std::vector<std::string>& node_names) {
  const std::set<std::string_view> only(request.only_nodes.begin(), request.only_nodes.end());
  const std::set<std::string_view> never(request.not_nodes.begin(), request.not_nodes.end());
  std::vector<std::string> excluded;
  for (const std::string& name : node_names) {
    const bool is_left_out = (!only.empty() && !only.contains(name)) || never.contains(name);
    if (!name.empty() && is_left_out) excluded.push_back(name);
  }
  std::string hostlist = compress_hostlist(excluded);
  const std::size_t max = request.only_nodes.empty() ? kMaxNotNodesBytes : kMaxExcludedBytes;
  if (hostlist.size() <= max) return hostlist;
  return Error(Errc::invalid, format("job: the names of %zu nodes to exclude have %zu bytes: may not be more than %zu",
                                     excluded.size(), hostlist.size(), max));
}

AllocationMessage::AllocationMessage(const AllocationRequest& request, std::string excluded)
    : tres_per_task_(tres_of(request.gres)),
      excluded_(std::move(excluded)),
      user_(encode_allocation_user({request.user, request.group, request.user_name})) {
  slurm_init_job_desc_msg(&message_);
  environment_[0] = user_.data();
  message_.environment = environment_;
  message_.env_size = 1;
  message_.user_id = request.user;
  message_.group_id = request.group;
  set_texts(request);
  set_resources(request);
  if (request.minutes) message_.time_limit = *request.minutes;
  if (request.priority) message_.priority = *request.priority;
  if (request.held) message_.priority = 0;
  if (request.external) message_.bitflags |= compat::kExternalJob;
  if (request.nice != 0) message_.nice = NICE_OFFSET + static_cast<std::uint32_t>(request.nice);
}

void AllocationMessage::set_texts(const AllocationRequest& request) {
  static char root[] = "/";
  message_.work_dir = root;  // none is refused
  message_.name = optional_text(request.name);
  message_.comment = optional_text(request.comment);
  compat::set_extra(message_, optional_text(request.extra));
  message_.account = optional_text(request.account);
  message_.partition = optional_text(request.partition);
  message_.qos = optional_text(request.qos);
  message_.reservation = optional_text(request.reservation);
  message_.features = optional_text(request.features);
  message_.licenses = optional_text(request.licenses);
  message_.wckey = optional_text(request.wckey);
  message_.tres_per_task = optional_text(tres_per_task_);
  message_.exc_nodes = optional_text(excluded_);
}

void AllocationMessage::set_resources(const AllocationRequest& request) {
  message_.num_tasks = request.tasks;
  message_.min_nodes = request.min_nodes;
  message_.max_nodes = request.max_nodes;
  if (requires_node(request)) {
    message_.req_nodes = optional_text(request.only_nodes.front());
    message_.max_nodes = 1;
  }
  message_.cpus_per_task = static_cast<std::uint16_t>(request.cpus_per_task);
  message_.min_cpus = request.tasks * request.cpus_per_task;
  if (request.tasks_per_node != 0) message_.ntasks_per_node = static_cast<std::uint16_t>(request.tasks_per_node);
  if (request.memory_per_cpu_mib != 0) message_.pn_min_memory = request.memory_per_cpu_mib | MEM_PER_CPU;
  if (request.exclusive) message_.shared = JOB_SHARED_NONE;
}

bool has_unequal_nodes(const job_info_t& info) {
  const std::vector<AllocatedNode> sizes = sizes_in_table_order(info);
  return std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) != sizes.end();
}

Allocation decode_allocation(const job_info_t& info, const std::vector<std::string>& node_names) {
  Allocation job;
  job.id = info.job_id;
  job.submitted = info.submit_time;
  job.state = state_of(info.job_state);
  job.completing = (info.job_state & JOB_COMPLETING) != 0;
  job.state_name = text_of(slurm_job_state_string(info.job_state & JOB_STATE_BASE));
  job.reason = text_of(compat::reason_word(info.state_reason));
  job.state_desc = text_of(info.state_desc);
  job.name = text_of(info.name);
  job.has_script = info.batch_flag != 0;
  job.comment = text_of(info.comment);
  job.extra = compat::extra_of(info);
  job.uid = info.user_id;
  job.user = info.user_name && info.user_name[0] ? text_of(info.user_name) : std::to_string(info.user_id);
  job.priority = info.priority;
  job.started = info.start_time;
  job.preempted = info.preempt_time;
  if (info.cpus_per_task < NO_VAL16) job.cpus_per_task = info.cpus_per_task;
  if (job.state != Allocation::State::pending) job.nodes = decode_nodes(info, node_names);
  return job;
}

std::map<std::uint32_t, std::uint32_t> queue_positions(const std::vector<const job_info_t*>& jobs) {
  std::vector<const job_info_t*> waiting;
  for (const job_info_t* job : jobs) {
    if (state_of(job->job_state) == Allocation::State::pending && job->priority != 0) waiting.push_back(job);
  }
  const auto partition_of = [](const job_info_t* job) {
    return std::string_view(job->partition ? job->partition : "");
  };
  std::ranges::sort(waiting, [&](const job_info_t* a, const job_info_t* b) {
    if (partition_of(a) != partition_of(b)) return partition_of(a) < partition_of(b);
    return a->priority != b->priority ? a->priority > b->priority : a->job_id < b->job_id;
  });
  std::map<std::uint32_t, std::uint32_t> positions;
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const bool is_first = i == 0 || partition_of(waiting[i]) != partition_of(waiting[i - 1]);
    position = is_first ? 1 : position + 1;
    positions[waiting[i]->job_id] = position;
  }
  return positions;
}

bool has_comment(const job_info_t& info, const std::string& prefix) {
  return std::string_view(info.comment ? info.comment : "").starts_with(prefix);
}

}  // namespace slurmk8s
