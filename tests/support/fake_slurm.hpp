// SPDX-License-Identifier: GPL-2.0-or-later
// FakeSlurm: slurmctld's node records in memory, with the rules that decide what a change does to a job. One thread.
// It answers as slurmctld does, as far as tests/contract/slurm_tests.cc says.
//
// A test sets nodes up and changes their states by node(); pass_time() lets power changes that were asked for happen.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slurm/hostlist.hpp"
#include "base/strings.hpp"
#include "slurm/reasons.hpp"
#include "slurm/node_state.hpp"
#include "slurm/slurm.hpp"

namespace slurmk8s {

class FakeSlurm final : public Slurm {
 public:
  using Base = SlurmNode::Base;

  /** What was asked for, in order: "create NodeName=…", "delete c-[0-1]", "drain c-0 REASON", "power_down c-0". */
  std::vector<std::string> calls;
  /** Nodes whose jobs a call requeued or killed: a test of careful code wants this empty. */
  std::set<std::string> harmed;
  std::map<std::uint32_t, std::string> comments;  // AdminComment of jobs, as set by a call
  int comment_writes = 0;
  /** The next calls fail with these, one each; loads too when `fail_loads`. */
  std::vector<Error> failures;
  bool fail_loads = false;
  /** The next create or delete is carried out, but its answer is lost: it returns this. */
  std::optional<Error> lost_answer;
  /** A change to this topology is refused. */
  std::string wrong_topology;
  /** As 22.05, 26.05, and others with accounting: a drain that ends takes its Reason along. */
  bool clears_reasons = false;
  /** As 22.05: a node that slurmctld sets DOWN keeps the Reason that it has. */
  bool keeps_reasons = false;
  std::int64_t limit = 4096;
  std::optional<std::string> exempt_nodes = "";  ///< SuspendExcNodes; empty: a Slurm that can't change it
  std::string configured_exempt_nodes;           ///< as slurm.conf has it
  std::time_t booted = 1;                        ///< when slurmctld started
  std::optional<Error> config_error;             ///< instead of the configuration
  bool ends_at_create = false;                   ///< slurmctld ends at each create, and starts again
  std::optional<Error> settle_error;             ///< of make_created_nodes_schedulable()
  int settled = 0;                               ///< calls of make_created_nodes_schedulable() that went well
  int scheduled = 0;                             ///< calls of schedule_jobs() that went well
  bool sees_no_change = false;                   ///< its clock was set back: it compares times of changes
  int loads = 0;                                 ///< node lists handed out, "nothing has changed" not counted

  std::map<std::uint32_t, SlurmJob> jobs;
  void touch_jobs() { job_time_++; }
  std::function<void()> on_load_jobs;      ///< while slurmctld makes a list of jobs
  std::function<void()> on_update;         ///< before nodes are changed: what another client does meanwhile
  std::function<void()> on_comment;        ///< while a job gets its AdminComment
  std::vector<std::string> nodes_of_jobs;  ///< as load_nodes_of_jobs() tells them
  std::vector<SlurmRun> runs;              ///< as load_runs() tells them
  int run_loads = 0;
  std::vector<SlurmJobNeeds> job_needs;  ///< as load_job_needs() tells them
  std::chrono::seconds requeue_delay{30};
  std::map<std::uint32_t, std::chrono::seconds> begins;  ///< how far ahead pending jobs' times to begin lie

  std::map<std::string, SlurmPartition> partitions;
  std::set<std::string> used_partitions;  ///< they have jobs
  Status keeps;                           ///< what check_partitions_persist() says
  int partition_loads = 0;                ///< lists handed out
  /** Makes a test's own changes of partitions visible. */
  void touch_partitions() { partition_time_++; }

  /** A record for reading and changing; made (powered-down, idle, as by create) when it isn't there. */
  SlurmNode& node(const std::string& name) {
    time_++;
    const auto [entry, made] = nodes_.try_emplace(name);
    if (made) entry->second = cloud_node(name);
    return entry->second;
  }
  /** slurmctld comes back on a machine whose clock is behind: its records are as old as others were before. */
  void change_machine(const std::function<void()>& changes) {
    const std::time_t time = time_;
    changes();
    time_ = time;
  }
  bool has(const std::string& name) const { return nodes_.count(name) != 0; }
  std::size_t size() const { return nodes_.size(); }
  /** All names as a hostlist. */
  std::string names() const {
    std::vector<std::string> all;
    for (const auto& [name, node] : nodes_) all.push_back(name);
    return compress_hostlist(all);
  }

  static SlurmNode cloud_node(const std::string& name) {
    SlurmNode node;
    node.name = node.address = name;
    node.base = Base::idle;
    node.cloud = node.dynamic = node.powered_down = true;
    return node;
  }

  /** slurmctld drains a node by itself: it keeps a Reason that is there. */
  void drain_itself(const std::string& name, const std::string& why) {
    SlurmNode& record = node(name);
    record.draining = true;
    if (record.reason.empty() || record.reason.starts_with("Not responding")) record.reason = why;
  }
  /** slurmctld sets a node DOWN by itself: it appends to the Reason, or 22.05 keeps it, but for ResumeTimeout. */
  void set_down_itself(const std::string& name, const std::string& why) {
    SlurmNode& record = node(name);
    const bool times_out = why == "ResumeTimeout reached";
    record.base = Base::down;
    if (times_out) {
      record.powered_down = true;
      record.powering_up = record.power_down_asked = record.draining = record.not_responding = false;
    }
    if (record.reason.empty() || (keeps_reasons && times_out)) {
      record.reason = why;
    } else if (!keeps_reasons && record.reason.find(" : " + why) == std::string::npos) {
      record.reason += " : " + why;
    }
  }

  /** An idle node that is asked to power down begins to, one that was powering down is down. Nothing else moves. */
  void pass_time() {
    for (auto& [name, node] : nodes_) {
      if (!node.going_down() || is_busy(node)) continue;
      time_++;
      if (node.power_down_asked) {
        node.power_down_asked = node.powered_down = node.powering_up = node.draining = false;
        node.not_responding = false;
        node.powering_down = true;
        node.base = Base::idle;  // idle_on_node_suspend
      } else {
        node.powering_down = false;
        node.powered_down = true;
      }
    }
  }

  /** ResumeProgram is called for the nodes that were asked to power up. */
  void resume_asked() {
    time_++;
    for (auto& [name, node] : nodes_) {
      if (!node.power_up_asked) continue;
      node.power_up_asked = node.powered_down = false;
      node.powering_up = node.not_responding = true;
    }
  }

  /** Nodes that were asked to power up are up, with their slurmds registered. */
  void power_up_asked() {
    time_++;
    for (auto& [name, node] : nodes_) {
      if (!node.power_up_asked) continue;
      node.power_up_asked = node.powered_down = false;
      node.address = "10.0.0.1";
    }
  }

  Result<std::optional<std::vector<SlurmNode>>> load_nodes_since(std::time_t& since) override {
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    if (since == time_ || (since != 0 && sees_no_change)) return std::optional<std::vector<SlurmNode>>();
    since = time_;
    loads++;
    std::vector<SlurmNode> all;
    for (const auto& [name, node] : nodes_) all.push_back(node);
    return std::optional(std::move(all));
  }

  Result<SlurmConfig> load_config() override {
    if (config_error) return *config_error;
    return SlurmConfig{
        .max_nodes = limit, .suspend_exc_nodes = exempt_nodes, .requeue_delay = requeue_delay, .booted = booted};
  }

  Status exempt_from_suspend(const std::string& hostlist, bool exempt) override {
    calls.push_back((exempt ? "exempt " : "subject ") + hostlist);
    if (auto error = refusal()) return *error;
    std::set<std::string> names;
    for (const std::string& name : SLURMK8S_TRY(expand_hostlist(*exempt_nodes))) names.insert(name);
    for (const std::string& name : SLURMK8S_TRY(expand_hostlist(hostlist))) {
      exempt ? void(names.insert(name)) : void(names.erase(name));
    }
    exempt_nodes = compress_hostlist({names.begin(), names.end()});
    return {};
  }

  Status make_created_nodes_schedulable() override {
    if (settle_error) return *settle_error;
    if (auto error = refusal()) return *error;
    settled++;
    if (exempt_nodes) exempt_nodes = configured_exempt_nodes;  // slurmctld reads slurm.conf again
    return {};
  }

  Status drop_lost_nodes() override {
    calls.push_back("drop lost nodes");
    if (auto error = refusal()) return *error;
    if (on_drop) on_drop();
    if (drops_lost_nodes) {
      time_++;
      std::erase_if(nodes_,
                    [](const auto& entry) { return entry.second.base == Base::future && !entry.second.dynamic; });
    }
    return {};
  }
  bool drops_lost_nodes = true;
  std::function<void()> on_drop;  ///< while lost nodes are dropped

  /** As slurmctld does at its start with a node whose name has no address. */
  void lose(const std::string& name) {
    SlurmNode& lost = node(name);
    lost.base = Base::future;
    lost.cloud = lost.dynamic = lost.powered_down = lost.powering_down = lost.power_down_asked = false;
    lost.reason = "NO NETWORK ADDRESS FOUND";
  }

  Status restart_slurmctld() override {
    calls.push_back("restart");
    if (auto error = refusal()) return *error;
    booted++;
    return {};
  }

  Result<SlurmNode> load_node(const std::string& name) override {
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) return Error(Errc::not_found, "slurm: Invalid node name specified");
    return found->second;
  }

  Result<SlurmJob> load_job(std::uint32_t id) override {
    if (auto error = next_failure()) return *error;
    const auto found = jobs.find(id);
    if (found == jobs.end()) return Error(Errc::not_found, "slurm: no such job");
    return found->second;
  }

  Result<std::optional<std::vector<SlurmJob>>> load_open_jobs_since(std::time_t& since) override {
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    if (since == job_time_) return std::optional<std::vector<SlurmJob>>();
    since = job_time_;
    if (on_load_jobs) on_load_jobs();
    std::vector<SlurmJob> waiting;
    for (const auto& [id, job] : jobs) {
      if (job.suspended || (job.waits && !job.features.empty())) waiting.push_back(job);
    }
    return std::optional(std::move(waiting));
  }

  Result<std::vector<std::string>> load_nodes_of_jobs() override {
    if (auto error = next_failure()) return *error;
    if (on_load_jobs) on_load_jobs();
    return nodes_of_jobs;
  }

  Result<std::vector<SlurmRun>> load_runs() override {
    run_loads++;
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    return runs;
  }

  Result<std::vector<SlurmJobNeeds>> load_job_needs() override {
    if (config_error) return *config_error;
    return job_needs;
  }

  Result<std::vector<std::uint32_t>> load_jobs_to_begin(std::chrono::seconds within) override {
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    std::vector<std::uint32_t> ids;
    for (const auto& [id, ahead] : begins) {
      if (ahead <= within) ids.push_back(id);
    }
    return ids;
  }

  Status create_nodes(const std::string& line) override {
    calls.push_back("create " + line);
    if (ends_at_create) {
      booted++;
      return Error(Errc::interrupted, "slurm: Zero Bytes were transmitted or received");
    }
    if (auto error = refusal()) return *error;
    std::map<std::string, std::string> words;
    for (const std::string_view word : split(line, ' ')) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) return Error(Errc::invalid, "slurm: Unspecified error");
      words[std::string(word.substr(0, equals))] = word.substr(equals + 1);
    }
    const bool is_external = words["State"] == "EXTERNAL";
    if (words["State"] != "CLOUD" && !is_external) return Error(Errc::conflict, "slurm: Invalid node state specified");
    for (const std::string& name : SLURMK8S_TRY(expand_hostlist(words["NodeName"]))) {
      if (has(name)) return Error(Errc::already_exists, "slurm: Node already exists");
      if (static_cast<std::int64_t>(size()) >= limit) return Error(Errc::forbidden, "slurm: No more nodes allowed");
      SlurmNode& made = node(name);
      made.cpus = static_cast<std::uint32_t>(parse_int(words["CPUs"]).value_or(1));
      made.real_memory_mib = static_cast<std::uint64_t>(parse_int(words["RealMemory"]).value_or(1));
      made.gres = words["Gres"];
      made.features = words["Feature"];
      if (is_external) made.external = true, made.cloud = made.powered_down = false;
      made.weight = static_cast<std::uint64_t>(parse_int(words["Weight"]).value_or(1));
      made.core_spec_count = static_cast<std::uint64_t>(parse_int(words["CoreSpecCount"]).value_or(0));
    }
    if (lost_answer) return *std::exchange(lost_answer, std::nullopt);
    return {};
  }

  Status delete_nodes(const std::string& hostlist) override {
    calls.push_back("delete " + hostlist);
    if (auto error = refusal()) return *error;
    Status status;
    for (const std::string& name : SLURMK8S_TRY(expand_hostlist(hostlist))) {
      const auto found = nodes_.find(name);
      if (found == nodes_.end()) {
        status = Error(Errc::not_found, "slurm: Invalid node name specified");
      } else if (is_busy(found->second) || found->second.reserved || !found->second.dynamic) {
        status = Error(Errc::conflict, "slurm: Requested nodes are busy");
      } else {
        nodes_.erase(found);  // which slurmctld doesn't count as a change of its nodes
      }
    }
    if (lost_answer) return *std::exchange(lost_answer, std::nullopt);
    return status;
  }

  Status update_nodes(const std::string& hostlist, const SlurmNodeUpdate& update) override {
    calls.push_back(verb(update.state) + " " + hostlist + (update.reason.empty() ? "" : " " + update.reason) +
                    (update.comment.empty() ? "" : " " + update.comment) +
                    (update.features ? " Features=" + *update.features : "") +
                    (update.weight ? " Weight=" + std::to_string(*update.weight) : "") +
                    (update.topology ? " Topology=" + *update.topology : ""));
    if (auto error = refusal()) return *error;
    if (update.topology && *update.topology == wrong_topology && !wrong_topology.empty()) {
      return Error(Errc::invalid, "slurm: Requested topology configuration is not available");
    }
    if (on_update) on_update();
    // As update_node() in node_mgr.c: each name once, in order, up to the first one that isn't there.
    const auto names = SLURMK8S_TRY(expand_hostlist(hostlist));
    for (const std::string& name : std::set<std::string>(names.begin(), names.end())) {
      if (!has(name)) return Error(Errc::not_found, "slurm: Invalid node name specified");
      apply(node(name), update);
    }
    return {};
  }

  std::atomic<bool> ended{false};
  void end() override { ended = true; }

  Status schedule_jobs(const std::string& node) override {
    if (auto error = refusal()) return *error;
    if (!has(node)) return Error(Errc::not_found, "slurm: Invalid node name specified");
    scheduled++;
    return {};
  }

  Status check_partitions_persist() override { return keeps; }

  Result<std::optional<std::vector<SlurmPartition>>> load_partitions_since(std::time_t& since) override {
    if (fail_loads) {
      if (auto error = next_failure()) return *error;
    }
    if (since == partition_time_) return std::optional<std::vector<SlurmPartition>>();
    since = partition_time_;
    partition_loads++;
    std::vector<SlurmPartition> all;
    for (const auto& [name, partition] : partitions) all.push_back(partition);
    return std::optional(std::move(all));
  }

  Status create_partition(const SlurmPartition& partition) override {
    if (ended) return ended_error();
    calls.push_back("create partition " + partition.name);
    if (partitions.contains(partition.name)) return Error(Errc::invalid, "slurm: Invalid partition name specified");
    return set_partition(partition, true);
  }

  Status update_partition(const SlurmPartition& change) override {
    if (ended) return ended_error();
    std::string call = "update partition " + change.name;
    for (const auto& [key, value] : change.options) call += " " + key + "=" + value;
    calls.push_back(call + (change.nodes.empty() ? "" : " Nodes=" + change.nodes));
    if (!partitions.contains(change.name)) return Error(Errc::invalid, "slurm: Invalid partition name specified");
    return set_partition(change, false);
  }

  Status delete_partition(const std::string& name) override {
    calls.push_back("delete partition " + name);
    if (auto error = refusal()) return *error;
    if (used_partitions.contains(name)) return Error(Errc::conflict, "slurm: Partition is in use");
    if (partitions.erase(name) == 0) return Error(Errc::invalid, "slurm: Invalid partition name specified");
    partition_time_++;
    return {};
  }

  Status clear_begin_time(std::uint32_t job) override {
    calls.push_back("begin " + std::to_string(job));
    if (auto error = refusal()) return *error;
    if (begins.erase(job) == 0 && !jobs.contains(job)) return unknown_job();
    return {};
  }

  Status hold_job(std::uint32_t job) override {
    calls.push_back("hold " + std::to_string(job));
    if (auto error = refusal()) return *error;
    const auto found = jobs.find(job);
    if (found == jobs.end()) return unknown_job();
    if (!found->second.pending) return Error(Errc::invalid, "slurm: Job is no longer pending execution");
    found->second.held = true;
    return {};
  }

  Status end_out_of_memory(std::uint32_t job) override {
    calls.push_back("end out of memory " + std::to_string(job));
    if (auto error = refusal()) return *error;
    return jobs.contains(job) ? Status() : Status(unknown_job());
  }

  Status comment_job(std::uint32_t job, const std::string& text) override {
    if (ended) return ended_error();
    const auto found = jobs.find(job);
    if (found == jobs.end()) return unknown_job();
    if (on_comment) on_comment();
    comments[job] = text;
    comment_writes++;
    found->second.admin_comment = text;
    return {};
  }

 private:
  using State = SlurmNodeUpdate::State;

  Status set_partition(const SlurmPartition& change, bool made) {
    if (auto error = refusal()) return *error;
    for (const std::string& name : SLURMK8S_TRY(expand_hostlist(change.nodes))) {
      if (!has(name)) return Error(Errc::not_found, "slurm: Invalid node name specified");
    }
    SlurmPartition& partition = partitions[change.name];
    partition.name = change.name;
    if (made) partition.options["State"] = "UP";
    if (!change.nodes.empty()) partition.nodes = change.nodes;
    for (const auto& [key, value] : change.options) partition.options[key] = value;
    partition_time_++;
    return {};
  }

  static std::string verb(State state) {
    switch (state) {
      case State::keep: return "update";
      case State::down: return "down";
      case State::drain: return "drain";
      case State::undrain: return "undrain";
      case State::resume: return "resume";
      case State::power_up: return "power_up";
      case State::power_down: return "power_down";
      case State::power_down_asap: return "power_down_asap";
      case State::power_down_force: return "power_down_force";
    }
    return "?";
  }

  void apply(SlurmNode& node, const SlurmNodeUpdate& update) {
    if (!update.reason.empty()) node.reason = update.reason;
    if (!update.comment.empty() || update.clear_comment) node.comment = update.comment;
    if (update.features) node.features = *update.features;
    if (update.weight) node.weight = *update.weight;
    if (update.topology) node.topology = *update.topology;
    if (update.active_features) node.active_features = *update.active_features;
    switch (update.state) {
      case State::drain:
        if (is_busy(node) && (node.powered_down || node.powering_up)) harm(node);
        node.draining = true;
        break;
      case State::down:
      case State::power_down_force:
        if (is_busy(node)) harm(node);
        if (update.state == State::down) {
          node.base = Base::down;
        } else {
          node.powering_up = false;
          ask_power_down(node);
        }
        break;
      case State::undrain:
        take_drain_back(node);
        if (update.reason.empty()) node.reason = kReasonReleased;
        if (clears_reasons) node.reason.clear();
        break;
      case State::resume:
        take_drain_back(node);
        if (clears_reasons) node.reason.clear();
        if (node.powering_down) {
          node.powering_down = false;
          node.powered_down = true;
        }
        if (node.base == Base::down) {
          node.base = Base::idle;
          node.not_responding = true;  // until its slurmd registers
        }
        break;
      case State::power_up: node.power_up_asked = node.powered_down; break;
      case State::power_down_asap:
        node.draining = true;
        ask_power_down(node);
        break;
      case State::power_down: ask_power_down(node); break;
      case State::keep: break;
    }
  }

  static void take_drain_back(SlurmNode& node) {
    if (node.draining && (node.powered_down || node.powering_down)) node.not_responding = true;
    node.draining = false;
  }

  void ask_power_down(SlurmNode& node) {
    node.power_down_asked = true;
    if (node.base == Base::down) node.powering_up = false;  // update_node(): slurmctld waits for it no longer
  }

  void harm(SlurmNode& node) {
    harmed.insert(node.name);
    node.base = Base::idle;
  }

  static Error unknown_job() { return Error(Errc::invalid, "slurm: Invalid job id specified"); }
  static Error ended_error() { return Error(Errc::cancelled, "slurm: the engine has ended"); }

  /** Of a change. */
  std::optional<Error> refusal() {
    if (ended) return ended_error();
    return next_failure();
  }

  std::optional<Error> next_failure() {
    if (failures.empty()) return std::nullopt;
    Error error = failures.front();
    failures.erase(failures.begin());
    return error;
  }

  std::map<std::string, SlurmNode> nodes_;
  std::time_t time_ = 1;
  std::time_t partition_time_ = 1;
  std::time_t job_time_ = 1;
};

}  // namespace slurmk8s
