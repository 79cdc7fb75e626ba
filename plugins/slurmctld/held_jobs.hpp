// SPDX-License-Identifier: GPL-2.0-or-later
// HeldJobs: the engine in this slurmctld, and the jobs whose launch waits: for their nodes, and for pods of former
// jobs to leave these. Used by prep/k8s, and by power/k8s where there is no prep/k8s; one of the two in a slurmctld.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/clock.hpp"
#include "slurmctld/host.hpp"
#include "slurmctld/launches.hpp"
#include "slurmctld/pod_jobs.hpp"

struct job_record_t;

namespace slurmk8s {

/**
 * Whether slurmctld is ending or about to restart itself (reconfigure). It would then drop the message that launches a
 * job, but save the job as running, and notice only at the node's next full registration, half an hour later (agent()
 * in agent.c; MAX_REG_FREQUENCY in ping_nodes.c). After the restart it calls the hook again for each job that is still
 * being configured.
 */
bool is_ending();
/**
 * Whether a plugin's fini() is followed by its init(): a reconfiguration of Slurm 22.05 with other plugins, under all
 * of slurmctld's locks, after which it registers no callbacks. What the plugin has must stay: its threads wait for
 * these locks. So must its code (-z nodelete).
 */
bool is_reloaded();

/** From a plugin's init() to its fini(), in slurmctld only. */
class HeldJobs {
 public:
  /**
   * Called for a job whose nodes have registered, or (`ok` false) have not within LaunchTimeout. Never while slurmctld
   * is ending. The launch thread, with none of Slurm's locks.
   */
  using Complete = std::function<void(std::uint32_t job, bool ok)>;

  /** Starts the engine; none of Slurm's locks held. `polled`: called after each poll of the jobs; may be empty. */
  explicit HeldJobs(Complete complete, std::function<void()> polled = {});
  ~HeldJobs();
  HeldJobs(const HeldJobs&) = delete;
  HeldJobs& operator=(const HeldJobs&) = delete;

  /**
   * True when the job is held: not all of its nodes have registered, or pods of jobs that are over are on them. Under
   * slurmctld's job and node write locks.
   */
  bool hold(job_record_t* job);

 private:
  void start_pod_jobs();

  SystemClock clock_;
  std::optional<PodJobs> pod_jobs_;
  std::optional<Launches> launches_;
  EngineHandle engine_;  // last: its thread calls in_control() and set_pod_jobs(), which use the others
};

}  // namespace slurmk8s
