// SPDX-License-Identifier: GPL-2.0-or-later
// OccupiedNodes: nodes where Kubernetes pods of jobs that are over still end. Slurm has given them to the next jobs.
#pragma once

#include <cstdint>

#include "slurmctld/compat.hpp"
#include "slurmctld/pod_jobs.hpp"

namespace slurmk8s {

/**
 * Whether a job has been launched and has not ended: pods of it may begin. Under Slurm's job and node read locks, as
 * everything here.
 */
bool is_launched(std::uint32_t job);

class OccupiedNodes {
 public:
  /** `nodes`: where pods of jobs are, whether the jobs are over or not. */
  explicit OccupiedNodes(const PodJobs::Nodes& nodes);
  ~OccupiedNodes();
  OccupiedNodes(const OccupiedNodes&) = delete;
  OccupiedNodes& operator=(const OccupiedNodes&) = delete;

  /** Whether one of them is a node of this job, which has been given its nodes. */
  bool has_node_of(job_record_t* job) const;

 private:
  bitstr_t* nodes_ = nullptr;  // null: there is none
};

}  // namespace slurmk8s
