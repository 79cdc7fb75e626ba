// SPDX-License-Identifier: GPL-2.0-or-later
// Recovered jobs: when slurmctld can judge whether they still run.
#include "engine/recovered_jobs.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/log.hpp"
#include "slurm/hostlist.hpp"
#include "slurm/node_state.hpp"

namespace slurmk8s {
namespace {

/** DEFAULT_MSG_TIMEOUT of Slurm: it allows no longer for a message. */
constexpr std::chrono::seconds kMaxMessageTime{10};
/** slurmctld compares whole seconds; and the message to slurmd takes a moment. */
constexpr std::chrono::seconds kSlack{3};

/** Nodes that slurmctld tells nothing about are left out. */
std::vector<SlurmNode> load_nodes(Slurm& slurm, const std::vector<std::string>& names) {
  std::vector<SlurmNode> nodes;
  for (const std::string& name : names) {
    Result<SlurmNode> node = slurm.load_node(name);
    if (node) nodes.push_back(*std::move(node));
  }
  return nodes;
}

}  // namespace

std::vector<SlurmRun> select_recovered(const std::vector<SlurmRun>& runs, std::time_t start) {
  std::vector<SlurmRun> recovered;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(recovered),
               [start](const SlurmRun& run) { return !run.batch_host.empty() && run.started <= start; });
  return recovered;
}

std::chrono::seconds registration_delay(const SlurmConfig& config) {
  return config.batch_start_timeout + std::min(kMaxMessageTime, config.message_timeout) + kSlack;
}

std::vector<std::string> plan_registrations(const std::vector<SlurmRun>& recovered, const std::vector<SlurmRun>& runs) {
  std::map<std::uint32_t, const SlurmRun*> running;
  for (const SlurmRun& run : runs) running.emplace(run.id, &run);
  std::set<std::string> hosts;
  for (const SlurmRun& run : recovered) {
    const auto found = running.find(run.id);
    if (found == running.end() || found->second->restarts != run.restarts) continue;
    if (found->second->batch_host == run.batch_host) hosts.insert(run.batch_host);
  }
  return {hosts.begin(), hosts.end()};
}

bool can_register(const SlurmNode& node) {
  using Base = SlurmNode::Base;
  const bool is_off = node.base == Base::down || node.base == Base::error || node.base == Base::future;
  return !is_off && !is_suspended(node) && !is_starting(node) && !node.reboot_issued;
}

RecoveredJobs::RecoveredJobs(Parts parts)
    : parts_(std::move(parts)), start_(std::chrono::system_clock::to_time_t(parts_.clock.wall())) {}

void RecoveredJobs::start() {
  if (!parts_.ask) return;
  parts_.slurm.call([this](Slurm& slurm) -> SlurmCaller::Then {
    return [this, runs = slurm.load_runs(), config = slurm.load_config()] { on_start(runs, config); };
  });
}

void RecoveredJobs::on_start(const Result<std::vector<SlurmRun>>& runs, const Result<SlurmConfig>& config) {
  if (!runs || !config) {
    parts_.timers.after(kRetry, [this] { start(); });
    return;
  }
  recovered_ = select_recovered(*runs, start_);
  if (!recovered_.empty()) parts_.timers.after(registration_delay(*config), [this] { look(); });
}

void RecoveredJobs::look() {
  parts_.slurm.call(
      [this](Slurm& slurm) -> SlurmCaller::Then { return [this, runs = slurm.load_runs()] { on_look(runs); }; });
}

void RecoveredJobs::on_look(const Result<std::vector<SlurmRun>>& runs) {
  if (!runs) {
    parts_.timers.after(kRetry, [this] { look(); });
    return;
  }
  for (std::string& host : plan_registrations(recovered_, *runs)) {
    if (parts_.is_ours(host)) hosts_.push_back(std::move(host));
  }
  recovered_.clear();
  ask_some();
}

void RecoveredJobs::ask_some() {
  std::vector<std::string> names;
  while (!hosts_.empty() && names.size() < kNodesAtOnce) {
    names.push_back(std::move(hosts_.front()));
    hosts_.pop_front();
  }
  if (names.empty()) return;
  parts_.slurm.call([this, names](Slurm& slurm) -> SlurmCaller::Then {
    return [this, nodes = load_nodes(slurm, names)] { on_nodes(nodes); };
  });
}

void RecoveredJobs::on_nodes(const std::vector<SlurmNode>& nodes) {
  std::vector<std::string> asked;
  for (const SlurmNode& node : nodes) {
    if (!can_register(node)) continue;
    parts_.ask(node.name);
    asked.push_back(node.name);
  }
  if (!asked.empty()) {
    log_info("slurmctld recovered running batch jobs: their nodes are asked to register: %s",
             shorten(compress_hostlist(asked)).c_str());
  }
  if (!hosts_.empty()) parts_.timers.after(kPause, [this] { ask_some(); });
}

}  // namespace slurmk8s
