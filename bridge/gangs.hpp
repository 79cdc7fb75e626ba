// SPDX-License-Identifier: GPL-2.0-or-later
// Gangs: which pods belong together, from their first appearance on. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bridge/gang.hpp"

namespace slurmk8s {

/** The workload as a gang knows it: a pod that starts alone is a workload of its own. */
WorkloadRef ref_of_gang(const WorkloadPod& pod, const Workload& spec);

class Gangs {
 public:
  /** A pod that isn't bound joins the gang of its workload that collects pods; a pod without one makes it. */
  void join(const WorkloadPod& pod, const Workload& spec, TimePoint now);
  /**
   * A pod that was bound for a job of uid `user` before this process began joins the gang of that job. Returns that.
   */
  Gang& restore(const WorkloadPod& pod, const Workload& spec, std::uint32_t user);
  /** The workload of a restored gang is known by now: `pod` is one of its pods. */
  void identify(Gang& gang, const WorkloadPod& pod, const Workload& spec);

  /** All other gangs of its workload, and of the same attempt. */
  std::vector<const Gang*> others(const Gang& gang) const;

  /** Null: in none. */
  Gang* find(const std::string& uid);
  /** The gang that has this job of uid `user`, submitted at that time; null: none. */
  Gang* find_job(std::uint32_t job, std::uint32_t user, std::time_t submitted);

  /** All gangs with a job of this id: several when slurmctld has given it twice. */
  std::vector<Gang*> of_job(std::uint32_t job);

  /**
   * Before a submission: whether slurmctld has a job for exactly these pods, from before this process began or from a
   * call without an answer; of uid `user`, since anybody can write a Comment. The gang is the job's then.
   */
  bool adopt(Gang& gang, std::uint32_t user, const std::map<std::uint32_t, Allocation>& jobs, TimePoint now);

  /** Forgets a gang; its pods may join another. `gang` is no more afterwards. */
  void drop(Gang& gang);

  /** A gang is no longer collecting. */
  void close(Gang& gang);
  /** Its job, when its user is known. */
  void set_job(Gang& gang, std::uint32_t job);

  /** By number, in the order of their beginnings. */
  std::map<std::uint64_t, Gang>& all() { return gangs_; }
  const std::map<std::uint64_t, Gang>& all() const { return gangs_; }

 private:
  Gang& add(const WorkloadRun& run, const Workload& spec);
  void leave_run(const Gang& gang);
  void put(Gang& gang, const std::string& uid);

  std::map<std::uint64_t, Gang> gangs_;  // their addresses stay
  std::uint64_t last_ = 0;
  std::map<std::string, Gang*> by_uid_;
  std::map<WorkloadRun, Gang*> collecting_;
  std::map<WorkloadRun, std::set<const Gang*>> of_run_;
  /** By job and its user. Several: slurmctld has forgotten the one, and has given its id to the other. */
  std::multimap<std::pair<std::uint32_t, std::uint32_t>, Gang*> by_job_;
};

}  // namespace slurmk8s
