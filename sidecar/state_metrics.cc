// SPDX-License-Identifier: GPL-2.0-or-later
// encode_state_metrics(): sums over jobs and nodes, put into text by prometheus-cpp.
#include "sidecar/state_metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace slurmk8s {
namespace {

constexpr auto kGauge = prometheus::MetricType::Gauge;
constexpr std::uint64_t kMiB = 1024 * 1024;

constexpr const char* kJobsPage = "/metrics/jobs";
constexpr const char* kUsersPage = "/metrics/jobs-users-accts";
constexpr const char* kNodesPage = "/metrics/nodes";
constexpr const char* kPartitionsPage = "/metrics/partitions";
constexpr const char* kSchedulerPage = "/metrics/scheduler";

/** Of users and accounts that have no metrics of their own. */
constexpr const char* kOther = "other";

struct JobName {
  JobCount count;
  const char* name;
  const char* help;
};

constexpr JobName kJobNames[] = {
    {JobCount::bootfail, "bootfail", "Jobs that ended since a node did not boot."},
    {JobCount::cancelled, "cancelled", "Jobs that were cancelled."},
    {JobCount::completed, "completed", "Jobs that completed."},
    {JobCount::completing, "completing", "Jobs whose end is not done."},
    {JobCount::configuring, "configuring", "Jobs that have nodes and wait until they are up."},
    {JobCount::deadline, "deadline", "Jobs that ended at their deadline."},
    {JobCount::expediting, "expediting", "Jobs that may be requeued expedited."},
    {JobCount::failed, "failed", "Jobs that failed."},
    {JobCount::fed_requeued, "fed_requeued", "Jobs that the federation requeues."},
    {JobCount::finished, "finished", "Jobs that have ended, however."},
    {JobCount::hold, "hold", "Pending jobs that are held."},
    {JobCount::node_failed, "node_failed", "Jobs that ended since a node failed."},
    {JobCount::outofmemory, "outofmemory", "Jobs that used more memory than they may."},
    {JobCount::pending, "pending", "Pending jobs, held ones too."},
    {JobCount::powerup_node, "powerup_node", "Jobs with nodes that are powered up for them."},
    {JobCount::preempted, "preempted", "Jobs that were preempted."},
    {JobCount::requeued, "requeued", "Jobs that are requeued."},
    {JobCount::resizing, "resizing", "Jobs whose size changes."},
    {JobCount::revoked, "revoked", "Jobs that another cluster runs."},
    {JobCount::running, "running", "Running jobs."},
    {JobCount::signaling, "signaling", "Jobs that are being signalled."},
    {JobCount::stageout, "stageout", "Jobs that stage data out."},
    {JobCount::started, "started", "Jobs that have started, ended ones too."},
    {JobCount::suspended, "suspended", "Suspended jobs."},
    {JobCount::timeout, "timeout", "Jobs that reached their time limit."},
};
static_assert(std::size(kJobNames) == static_cast<std::size_t>(JobCount::end));

struct NodeName {
  NodeCount count;
  const char* name;       ///< behind slurm_nodes_
  const char* partition;  ///< behind slurm_partition_nodes_
  const char* help;
};

constexpr NodeName kNodeNames[] = {
    {NodeCount::alloc, "alloc", "alloc", "Nodes that are ALLOCATED."},
    {NodeCount::blocked, "blocked", "blocked", "Nodes that are BLOCKED."},
    {NodeCount::completing, "completing", "cg", "Nodes with a job whose end is not done."},
    {NodeCount::cloud, "cloud", "cloud", "Nodes that are CLOUD."},
    {NodeCount::down, "down", "down", "Nodes that are DOWN."},
    {NodeCount::drain, "drain", "drain", "Nodes that are DRAIN without a job."},
    {NodeCount::drained, "drained", "drained", "Nodes that are drained, without a job."},
    {NodeCount::draining, "draining", "draining", "Nodes that are draining, with jobs."},
    {NodeCount::dyn_future, "dyn_future", "dyn_future", "Nodes that are dynamic and were FUTURE."},
    {NodeCount::dyn_normal, "dyn_normal", "dyn_normal", "Nodes that are dynamic."},
    {NodeCount::external, "external", "external", "Nodes that are EXTERNAL."},
    {NodeCount::fail, "fail", "fail", "Nodes that are FAIL."},
    {NodeCount::future, "future", "future", "Nodes that are FUTURE."},
    {NodeCount::idle, "idle", "idle", "Nodes that are IDLE, powered-down ones too."},
    {NodeCount::invalid_reg, "invalid_reg", "invalid_reg", "Nodes whose slurmd registered with less than it should."},
    {NodeCount::maint, "maint", "maint", "Nodes in a maintenance reservation."},
    {NodeCount::mixed, "mixed", "mixed", "Nodes that are MIXED."},
    {NodeCount::noresp, "noresp", "no_resp", "Nodes that are not responding."},
    {NodeCount::planned, "planned", "planned", "Nodes that are PLANNED."},
    {NodeCount::power_down, "power_down", "power_down", "Nodes with POWER_DOWN: a power-down is requested."},
    {NodeCount::power_up, "power_up", "power_up", "Nodes with POWER_UP: a power-up is requested."},
    {NodeCount::powered_down, "powered_down", "powered_down", "Nodes that are powered down."},
    {NodeCount::powering_down, "powering_down", "powering_down", "Nodes that are powering down."},
    {NodeCount::powering_up, "powering_up", "powering_up", "Nodes that are powering up."},
    {NodeCount::reboot_issued, "reboot_issued", "reboot_issued", "Nodes that reboot."},
    {NodeCount::reboot_req, "reboot_req", "reboot_requested", "Nodes that are to reboot."},
    {NodeCount::resv, "resv", "resv", "Nodes in a reservation."},
    {NodeCount::unknown, "unknown", "unknown", "Nodes whose state is unknown."},
};
static_assert(std::size(kNodeNames) == static_cast<std::size_t>(NodeCount::end));

/** Shown also when no job waits for it. */
constexpr const char* kWaitReasons[] = {"None",        "Priority",     "Dependency",     "Resources",
                                        "BeginTime",   "Licenses",     "Reservation",    "ReqNodeNotAvail",
                                        "JobHeldUser", "JobHeldAdmin", "PartitionLimit", "JobArrayTaskLimit",
                                        "Limit",       "Other"};

/** Sums over jobs. */
struct JobTotals {
  std::array<std::uint64_t, static_cast<std::size_t>(JobCount::end)> counts{};
  std::uint64_t jobs = 0;
  std::uint64_t nodes = 0;
  std::uint64_t cpus = 0;
  std::uint64_t memory = 0;
  std::uint64_t gpus = 0;

  void add(const StateJob& job) {
    for (std::size_t i = 0; i < counts.size(); i++) counts[i] += job.counts[i] ? job.tasks : 0;
    jobs += job.tasks;
    nodes += job.nodes_alloc;
    cpus += job.cpus_alloc;
    memory += job.memory_alloc;
    gpus += job.gpus_alloc;
  }
  void add(const JobTotals& other) {
    for (std::size_t i = 0; i < counts.size(); i++) counts[i] += other.counts[i];
    jobs += other.jobs;
    nodes += other.nodes;
    cpus += other.cpus;
    memory += other.memory;
    gpus += other.gpus;
  }
  std::uint64_t of(JobCount count) const { return counts[static_cast<std::size_t>(count)]; }
};

bool counts_as(const StateJob& job, JobCount count) { return job.counts[static_cast<std::size_t>(count)]; }
bool counts_as(const StateNode& node, NodeCount count) { return node.counts[static_cast<std::size_t>(count)]; }

/** Sums over nodes. Memory in MiB. */
struct NodeTotals {
  std::array<std::uint64_t, static_cast<std::size_t>(NodeCount::end)> counts{};
  std::uint64_t nodes = 0;
  StateNode sum;

  void add(const StateNode& node) {
    for (std::size_t i = 0; i < counts.size(); i++) counts[i] += node.counts[i];
    nodes++;
    sum.cpus_alloc += node.cpus_alloc;
    sum.cpus_effective += node.cpus_effective;
    sum.memory += node.memory;
    sum.memory_alloc += node.memory_alloc;
    sum.memory_effective += node.memory_effective;
    sum.memory_free += node.memory_free;
    sum.gpus += node.gpus;
  }
  std::uint64_t of(NodeCount count) const { return counts[static_cast<std::size_t>(count)]; }
};

std::uint64_t idle_cpus(const StateNode& node) {
  return node.cpus_effective - std::min(node.cpus_effective, node.cpus_alloc);
}

struct PartitionTotals {
  const StatePartition* partition = nullptr;
  JobTotals jobs;
  NodeTotals nodes;
  std::uint64_t unfinished = 0;
  std::uint64_t over_node_limit = 0;
  // The most that a pending job asks for.
  std::uint64_t max_nodes = 0;
  std::uint64_t min_nodes = 0;
  std::uint64_t max_nodes_nohold = 0;
  std::uint64_t min_nodes_nohold = 0;
  // The longest wait of a job; seconds.
  std::uint64_t pending_seconds = 0;
  std::uint64_t configuring_seconds = 0;
};

using Groups = std::map<std::string, JobTotals>;
using Partitions = std::map<std::string, PartitionTotals>;

/** One page. */
class Page {
 public:
  void add(const std::string& name, const char* help, std::uint64_t value) {
    begin(name, help);
    add_sample({}, static_cast<double>(value));
  }
  /** One sample for each entry of a map, with its key as the label. */
  template <typename Map, typename Value>
  void add_each(const std::string& name, const char* help, const char* label, const Map& map, Value value) {
    begin(name, help);
    for (const auto& [key, entry] : map) add_sample({{label, key}}, static_cast<double>(value(entry)));
  }
  /** The same with a name of ours, whose type lint looks for. */
  template <typename Map, typename Value>
  void add_each(const char* name, prometheus::MetricType, const char* help, const char* label, const Map& map,
                Value value) {
    add_each(name, help, label, map, value);
  }
  void begin(const std::string& name, const char* help) {
    prometheus::MetricFamily& family = families_.emplace_back();
    family.name = name;
    family.help = help;
    family.type = kGauge;
  }
  void add_sample(std::vector<prometheus::ClientMetric::Label> labels, double value) {
    prometheus::ClientMetric sample;
    sample.label = std::move(labels);
    sample.gauge.value = value;
    families_.back().metric.push_back(std::move(sample));
  }
  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<prometheus::MetricFamily> families_;
};

std::uint64_t seconds_since(std::time_t begin, std::time_t now) {
  return begin > 0 && begin < now ? static_cast<std::uint64_t>(now - begin) : 0;
}

void add_job(const StateJob& job, std::time_t now, PartitionTotals& partition) {
  partition.jobs.add(job);
  const bool ended = counts_as(job, JobCount::finished) && !counts_as(job, JobCount::completing);
  if (!ended) partition.unfinished += job.tasks;
  const auto raise = [](std::uint64_t& max, std::uint64_t value) { max = std::max(max, value); };
  if (counts_as(job, JobCount::configuring)) raise(partition.configuring_seconds, seconds_since(job.waits_since, now));
  if (!counts_as(job, JobCount::pending)) return;
  if (job.over_node_limit) partition.over_node_limit += job.tasks;
  raise(partition.max_nodes, job.max_nodes);
  raise(partition.min_nodes, job.min_nodes);
  if (counts_as(job, JobCount::hold)) return;
  raise(partition.max_nodes_nohold, job.max_nodes);
  raise(partition.min_nodes_nohold, job.min_nodes);
  raise(partition.pending_seconds, seconds_since(job.waits_since, now));
}

Partitions sum_partitions(const SlurmState& state, std::time_t now) {
  Partitions partitions;
  for (const StatePartition& partition : state.partitions) {
    PartitionTotals& totals = partitions[partition.name];
    totals.partition = &partition;
    for (const std::uint32_t place : partition.members) {
      if (place < state.nodes.size() && !state.nodes[place].name.empty()) totals.nodes.add(state.nodes[place]);
    }
  }
  // A job of a partition that is gone counts for none.
  for (const StateJob& job : state.jobs) {
    if (const auto found = partitions.find(job.partition); found != partitions.end()) add_job(job, now, found->second);
  }
  return partitions;
}

/** Those with most jobs stay, the others are added up. */
Groups keep_largest(const Groups& groups, std::size_t max_groups) {
  std::vector<const Groups::value_type*> order;
  for (const auto& group : groups) order.push_back(&group);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->second.jobs > b->second.jobs; });
  Groups kept;
  for (std::size_t i = 0; i < order.size(); i++) kept[i < max_groups ? order[i]->first : kOther].add(order[i]->second);
  return kept;
}

// ---- pages ----------------------------------------------------------------------------------------------------------

std::string encode_jobs(const SlurmState& state, const Partitions& partitions) {
  JobTotals totals;
  std::map<std::string, std::uint64_t> reasons;
  for (const char* reason : kWaitReasons) reasons[reason] = 0;
  for (const StateJob& job : state.jobs) {
    totals.add(job);
    if (counts_as(job, JobCount::pending)) reasons[job.reason] += job.tasks;
  }
  Page page;
  page.add("slurm_jobs", "Jobs that slurmctld knows, with each task of a job array.", totals.jobs);
  for (const JobName& name : kJobNames) {
    page.add(std::string("slurm_jobs_") + name.name, name.help, totals.of(name.count));
  }
  page.add("slurm_jobs_cpus_alloc", "CPUs of running and suspended jobs.", totals.cpus);
  page.add("slurm_jobs_gpus_alloc", "GPUs of running and suspended jobs.", totals.gpus);
  page.add("slurm_jobs_memory_alloc", "Bytes of memory of running and suspended jobs.", totals.memory * kMiB);
  page.add("slurm_jobs_nodes_alloc", "Nodes of running and suspended jobs; of a shared one, once for each job.",
           totals.nodes);
  page.add_each("slurm_k8s_jobs_pending", kGauge, "Pending jobs by why they wait.", "reason", reasons,
                [](std::uint64_t count) { return count; });
  page.add_each("slurm_k8s_jobs_longest_pending_seconds", kGauge,
                "How long the pending job that waits longest has been eligible; held ones do not count.", "partition",
                partitions, [](const PartitionTotals& p) { return p.pending_seconds; });
  page.add_each("slurm_k8s_jobs_longest_configuring_seconds", kGauge,
                "How long the job that waits longest for its nodes has had them.", "partition", partitions,
                [](const PartitionTotals& p) { return p.configuring_seconds; });
  return page.text();
}

void add_groups(const char* prefix, const char* label, const Groups& groups, Page& page) {
  const std::string start = std::string("slurm_") + prefix + "_jobs";
  page.add_each(start, "Jobs that slurmctld knows.", label, groups, [](const JobTotals& t) { return t.jobs; });
  for (const JobName& name : kJobNames) {
    page.add_each(start + "_" + name.name, name.help, label, groups,
                  [&name](const JobTotals& t) { return t.of(name.count); });
  }
  page.add_each(start + "_cpus_alloc", "CPUs of running and suspended jobs.", label, groups,
                [](const JobTotals& t) { return t.cpus; });
  page.add_each(start + "_gpus_alloc", "GPUs of running and suspended jobs.", label, groups,
                [](const JobTotals& t) { return t.gpus; });
  page.add_each(start + "_memory_alloc", "Bytes of memory of running and suspended jobs.", label, groups,
                [](const JobTotals& t) { return t.memory * kMiB; });
  page.add_each(start + "_nodes_alloc", "Nodes of running and suspended jobs; of a shared one, once for each job.",
                label, groups, [](const JobTotals& t) { return t.nodes; });
}

std::string encode_users(const SlurmState& state, std::size_t max_users) {
  Groups users;
  Groups accounts;
  for (const StateJob& job : state.jobs) {
    users[job.user].add(job);
    // Without accounting jobs have no account.
    if (!job.account.empty()) accounts[job.account].add(job);
  }
  Page page;
  add_groups("user", "username", keep_largest(users, max_users), page);
  add_groups("account", "account", keep_largest(accounts, max_users), page);
  return page.text();
}

void add_node_resources(const SlurmState& state, Page& page) {
  std::map<std::string, const StateNode*> up;
  for (const StateNode& node : state.nodes) {
    const bool absent = counts_as(node, NodeCount::powered_down) || counts_as(node, NodeCount::future);
    if (!node.name.empty() && !absent) up[node.name] = &node;
  }
  const auto add = [&](const char* name, const char* help, auto value) {
    page.add_each(std::string("slurm_node_") + name, help, "node", up, value);
  };
  using Node = const StateNode*;
  add("cpus", "CPUs of the node.", [](Node n) { return n->cpus; });
  add("cpus_alloc", "CPUs of the node that jobs have.", [](Node n) { return n->cpus_alloc; });
  add("cpus_effective", "CPUs of the node that jobs can have.", [](Node n) { return n->cpus_effective; });
  add("cpus_idle", "CPUs of the node that no job has.", [](Node n) { return idle_cpus(*n); });
  add("gpus", "GPUs of the node.", [](Node n) { return n->gpus; });
  add("gpus_alloc", "GPUs of the node that jobs have.", [](Node n) { return n->gpus_alloc; });
  add("memory_bytes", "Memory of the node.", [](Node n) { return n->memory * kMiB; });
  add("memory_alloc_bytes", "Memory of the node that jobs have.", [](Node n) { return n->memory_alloc * kMiB; });
  add("memory_effective_bytes", "Memory of the node that jobs can have.",
      [](Node n) { return n->memory_effective * kMiB; });
  add("memory_free_bytes", "Memory that is free, as slurmd last said.", [](Node n) { return n->memory_free * kMiB; });
}

std::string encode_nodes(const SlurmState& state) {
  NodeTotals totals;
  for (const StateNode& node : state.nodes) {
    if (!node.name.empty()) totals.add(node);
  }
  Page page;
  page.add("slurm_nodes", "Nodes that slurmctld knows.", totals.nodes);
  for (const NodeName& name : kNodeNames) {
    page.add(std::string("slurm_nodes_") + name.name, name.help, totals.of(name.count));
  }
  add_node_resources(state, page);
  return page.text();
}

void add_partition_jobs(const Partitions& partitions, Page& page) {
  const auto add = [&](const std::string& name, const char* help, auto value) {
    page.add_each("slurm_partition_jobs" + name, help, "partition", partitions, value);
  };
  using Totals = const PartitionTotals&;
  add("", "Jobs of the partition that have not ended.", [](Totals p) { return p.unfinished; });
  for (const JobName& name : kJobNames) {
    add(std::string("_") + name.name, name.help, [&name](Totals p) { return p.jobs.of(name.count); });
  }
  add("_cpus_alloc", "CPUs of running and suspended jobs.", [](Totals p) { return p.jobs.cpus; });
  add("_gpus_alloc", "GPUs of running and suspended jobs.", [](Totals p) { return p.jobs.gpus; });
  add("_memory_alloc", "Bytes of memory of running and suspended jobs.", [](Totals p) { return p.jobs.memory * kMiB; });
  add("_max_job_nodes", "The largest maximum number of nodes of a pending job.", [](Totals p) { return p.max_nodes; });
  add("_max_job_nodes_nohold", "The same without held jobs.", [](Totals p) { return p.max_nodes_nohold; });
  add("_min_job_nodes", "The largest number of nodes that a pending job needs.", [](Totals p) { return p.min_nodes; });
  add("_min_job_nodes_nohold", "The same without held jobs.", [](Totals p) { return p.min_nodes_nohold; });
  add("_wait_part_node_limit", "Pending jobs that ask for more nodes than the partition allows.",
      [](Totals p) { return p.over_node_limit; });
}

void add_partition_nodes(const Partitions& partitions, Page& page) {
  const auto add = [&](const std::string& name, const char* help, auto value) {
    page.add_each("slurm_partition_" + name, help, "partition", partitions, value);
  };
  using Totals = const PartitionTotals&;
  add("cpus", "CPUs of the partition.", [](Totals p) { return p.partition->cpus; });
  add("gpus", "GPUs of the partition.", [](Totals p) { return p.nodes.sum.gpus; });
  add("nodes", "Nodes of the partition.", [](Totals p) { return p.partition->nodes; });
  for (const NodeName& name : kNodeNames) {
    add(std::string("nodes_") + name.partition, name.help, [&name](Totals p) { return p.nodes.of(name.count); });
  }
  add("nodes_cpus_alloc", "CPUs that jobs have.", [](Totals p) { return p.nodes.sum.cpus_alloc; });
  add("nodes_cpus_efctv", "CPUs that jobs can have.", [](Totals p) { return p.nodes.sum.cpus_effective; });
  add("nodes_cpus_idle", "CPUs that no job has, of powered-down nodes too.",
      [](Totals p) { return idle_cpus(p.nodes.sum); });
  add("nodes_mem_alloc", "Bytes of memory that jobs have.", [](Totals p) { return p.nodes.sum.memory_alloc * kMiB; });
  add("nodes_mem_avail", "Bytes of memory that jobs can have.",
      [](Totals p) { return p.nodes.sum.memory_effective * kMiB; });
  add("nodes_mem_free", "Bytes of memory that are free, as slurmd last said.",
      [](Totals p) { return p.nodes.sum.memory_free * kMiB; });
  add("nodes_mem_tot", "Bytes of memory of the nodes.", [](Totals p) { return p.nodes.sum.memory * kMiB; });
}

std::string encode_partitions(const Partitions& partitions) {
  Page page;
  page.add("slurm_partitions", "Partitions.", partitions.size());
  add_partition_jobs(partitions, page);
  add_partition_nodes(partitions, page);
  return page.text();
}

std::string encode_scheduler(const SlurmState& state) {
  Page page;
  for (const StateStatistic& statistic : state.statistics) {
    page.begin(std::string("slurm_") + statistic.name, statistic.help);
    page.add_sample({}, statistic.value);
  }
  return page.text();
}

}  // namespace

std::vector<std::string> state_pages() { return {kJobsPage, kUsersPage, kNodesPage, kPartitionsPage, kSchedulerPage}; }

StatePages encode_state_metrics(const SlurmState& state, std::time_t now, std::size_t max_users) {
  const Partitions partitions = sum_partitions(state, now);
  return {{kJobsPage, encode_jobs(state, partitions)},
          {kUsersPage, encode_users(state, max_users)},
          {kNodesPage, encode_nodes(state)},
          {kPartitionsPage, encode_partitions(partitions)},
          {kSchedulerPage, encode_scheduler(state)}};
}

}  // namespace slurmk8s
