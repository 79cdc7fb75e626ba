// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes are not free yet, by slurmctld's records and the bridge's.
#include "slurmctld/occupied_nodes.hpp"

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

/** slurmctld logs an error for each name that it doesn't know: a node that was deleted. */
std::string known_names(const std::string& hostlist) {
  std::string known;
  const auto names = expand_hostlist(hostlist);
  if (!names) return known;
  for (std::string name : *names) {
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
  for (const auto& [job, where] : nodes) {
    add(where.over);
    if (!where.nodes.empty() && is_over(job)) add(where.nodes);
  }
}

void OccupiedNodes::add(const std::string& hostlist) {
  if (hostlist.empty()) return;
  std::string names = known_names(hostlist);
  if (names.empty()) return;
  if (bitstr_t* bitmap = compat::bitmap_of(names.data())) bitmaps_.push_back(bitmap);
}

OccupiedNodes::~OccupiedNodes() {
  for (bitstr_t* bitmap : bitmaps_) slurm_bit_free(&bitmap);
}

bool OccupiedNodes::has_node_of(job_record_t* job) const {
  for (bitstr_t* bitmap : bitmaps_) {
    if (compat::has_node_of(job, bitmap)) return true;
  }
  return false;
}

}  // namespace slurmk8s
