// SPDX-License-Identifier: GPL-2.0-or-later
// PodJobs: the Slurm jobs of slurm-k8s-bridge, whose processes are Kubernetes pods, as the bridge tells them to the
// engine, and what slurmctld says of them. Over the engine's socket, on one connection that stays open:
//
//   bridge → engine  {"op":"pod_jobs","jobs":{"12":"c-[0-3]","13":""}}   all of its jobs, each time
//   engine → bridge  {"ok":true}
//   engine → bridge  {"report":1,"running":[12],"not_running":[13]}      jobs that are new or have changed
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** By job: a hostlist of the Slurm nodes where pods of it are, or may be soon. Empty: nowhere. */
using PodJobs = std::map<std::uint32_t, std::string>;

/** Most jobs that the engine takes: a report of all fits into a socket's buffer. */
inline constexpr std::size_t kMaxPodJobs = 10000;

/** What slurmctld says of them. */
struct PodJobsReport {
  /** How many messages of this connection slurmctld had taken when it was asked. */
  std::uint64_t taken = 0;
  /** Whether each job has been launched and has not ended. */
  std::map<std::uint32_t, bool> running;
  bool operator==(const PodJobsReport&) const = default;
};

Json encode_pod_jobs(const PodJobs& jobs);
/** Error (invalid) names the member. */
Result<PodJobs> decode_pod_jobs(const Json& message);

Json encode_report(const PodJobsReport& report);
/** Error (invalid): not a report. */
Result<PodJobsReport> decode_report(const Json& message);

}  // namespace slurmk8s
