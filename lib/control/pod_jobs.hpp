// SPDX-License-Identifier: GPL-2.0-or-later
// PodJobs: the Slurm jobs of slurm-k8s-bridge, whose processes are Kubernetes pods, as the bridge tells them to the
// engine, and what slurmctld says of them. Over the engine's socket, on one connection that stays open:
//
//   bridge → engine  {"op":"pod_jobs","all":true,"jobs":{"12":"c-[0-3]","13":""},"over":{"7":"c-5"}}   all of its jobs
//   engine → bridge  {"ok":true}
//   bridge → engine  {"op":"pod_jobs","jobs":{"13":"c-4"},"gone":[12]}   changes of them
//   engine → bridge  {"ok":true}
//   engine → bridge  {"report":1,"running":[12],"not_running":[13]}   jobs that are new or have changed
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Where pods of a job are: hostlists of Slurm nodes. Empty: nowhere. */
struct PodNodes {
  std::string nodes = {};  ///< of a job that slurmctld knows, also where they may be soon
  /**
   * Of a job that is over, or that this slurmctld may not know: one that has lost its state gives its id to another
   * job.
   */
  std::string over = {};
  bool operator==(const PodNodes&) const = default;
};

/** By job. */
using PodJobs = std::map<std::uint32_t, PodNodes>;

/** A message: jobs that are new or whose nodes have changed, and those that are no more. */
struct PodJobsChange {
  bool is_all = false;  ///< these are all jobs: others that were told before are no more
  PodJobs jobs = {};
  std::set<std::uint32_t> gone = {};
  bool operator==(const PodJobsChange&) const = default;
};

/** Most jobs of a bridge: a report of all fits into a socket's buffer. */
inline constexpr std::size_t kMaxPodJobs = 10000;

/** What slurmctld says of them. */
struct PodJobsReport {
  /** How many messages of this connection slurmctld had taken when it was asked. */
  std::uint64_t taken = 0;
  /** Whether each job has been launched and has not ended. */
  std::map<std::uint32_t, bool> running;
  bool operator==(const PodJobsReport&) const = default;
};

Json encode_pod_jobs(const PodJobsChange& change);
/** Error (invalid) names the member. */
Result<PodJobsChange> decode_pod_jobs(const Json& message);

Json encode_report(const PodJobsReport& report);
/** Error (invalid): not a report. */
Result<PodJobsReport> decode_report(const Json& message);

}  // namespace slurmk8s
