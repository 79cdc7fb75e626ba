// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes are not free yet, by slurmctld's records and the bridge's.
#include "slurmctld/occupied_nodes.hpp"

#include <set>
#include <string>

#include "slurm/hostlist.hpp"

namespace slurmk8s {
namespace {

/** Also one that slurmctld does not know, or that waits to be run again. */
bool is_over(std::uint32_t job) {
  int ready = 0;
  const int rc = compat::job_node_ready(job, &ready);
  const bool is_configuring = rc == EAGAIN;
  return !is_configuring && (rc != SLURM_SUCCESS || !(ready & READY_JOB_STATE));
}

void add(const std::string& hostlist, std::set<std::string>& nodes) {
  if (hostlist.empty()) return;
  if (const auto names = expand_hostlist(hostlist)) nodes.insert(names->begin(), names->end());
}

/** slurmctld logs an error for each name that it doesn't know: a node that was deleted. */
std::string known_names(const std::set<std::string>& nodes) {
  std::string known;
  for (std::string name : nodes) {
    if (find_node_record_no_alias(name.data())) known += (known.empty() ? "" : ",") + name;
  }
  return known;
}

}  // namespace

bool is_launched(std::uint32_t job) {
  int ready = 0;
  constexpr int kLaunched = READY_JOB_STATE | READY_PROLOG_STATE;  // 22.05 calls a job that is configured running
  return compat::job_node_ready(job, &ready) == SLURM_SUCCESS && (ready & kLaunched) == kLaunched;
}

OccupiedNodes::OccupiedNodes(const PodJobs::Nodes& nodes) {
  if (!compat::knows_jobs_nodes()) return;
  std::set<std::string> occupied;
  for (const auto& [job, where] : nodes) {
    add(where.over, occupied);
    if (!where.nodes.empty() && is_over(job)) add(where.nodes, occupied);
  }
  std::string names = known_names(occupied);
  if (!names.empty()) nodes_ = compat::bitmap_of(names.data());
}

OccupiedNodes::~OccupiedNodes() {
  if (nodes_) slurm_bit_free(&nodes_);
}

bool OccupiedNodes::has_node_of(job_record_t* job) const { return nodes_ && compat::has_node_of(job, nodes_); }

}  // namespace slurmk8s
