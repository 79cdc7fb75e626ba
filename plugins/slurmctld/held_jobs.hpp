// SPDX-License-Identifier: GPL-2.0-or-later
// HeldJobs: the engine in this slurmctld, and the jobs whose launch waits there for their nodes. What prep/k8s does,
// and power/k8s where there is no prep/k8s; one of the two in a slurmctld.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "slurmctld/host.hpp"
#include "slurmctld/launches.hpp"

struct job_record_t;

namespace slurmk8s {

/**
 * Whether slurmctld is ending or about to start itself anew (reconfigure). The message that launches a job would be
 * dropped then, while the job is saved as one that runs: slurmctld would find out at the node's next full registration,
 * half an hour later (agent() in agent.c; MAX_REG_FREQUENCY in ping_nodes.c). A job that is still being configured is
 * handed to us again instead.
 */
bool is_ending();

/** Lives from a plugin's start to its fini, in slurmctld only. */
class HeldJobs {
 public:
  /**
   * What is done with a job whose nodes are there, or (`ok` false) were not in LaunchTimeout. Never while slurmctld is
   * ending. The launch thread, with none of Slurm's locks.
   */
  using Complete = std::function<void(std::uint32_t job, bool ok)>;

  /** Starts the engine; none of Slurm's locks held. `looked` is called after each look at the jobs; may be empty. */
  explicit HeldJobs(Complete complete, std::function<void()> looked = {});
  ~HeldJobs();
  HeldJobs(const HeldJobs&) = delete;
  HeldJobs& operator=(const HeldJobs&) = delete;

  /** True when the job's nodes aren't all there: then it is held. Under slurmctld's job and node write locks. */
  bool hold(job_record_t* job);

 private:
  SystemClock clock_;
  std::optional<Launches> launches_;
  EngineHandle engine_;  // last: its thread asks whether we are in control, which uses the launches
};

}  // namespace slurmk8s
