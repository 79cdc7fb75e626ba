// SPDX-License-Identifier: GPL-2.0-or-later
// Messages about the bridge's jobs.
#include "control/pod_jobs.hpp"

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

std::optional<std::uint32_t> job_id(std::optional<std::int64_t> number) {
  if (!number || *number < 1 || *number > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

/** Hostlists by job: the object in the member `name`, which may be missing. */
template <typename Take>
Status take_nodes(const Json& message, const char* name, const Take& take) {
  Status status;
  message[name].each([&](std::string_view key, const Json& nodes) {
    const auto id = job_id(parse_int(key));
    if (id && nodes.is_string()) return take(*id, std::string(nodes.text()));
    status = Error(Errc::invalid, format("%s[%.*s]: must be a job's number, with a hostlist", name,
                                         static_cast<int>(key.size()), key.data()));
  });
  return status;
}

/** Numbers of jobs: the array in the member `name`, which may be missing. */
template <typename Take>
Status take_ids(const Json& message, const char* name, const Take& take) {
  Status status;
  message[name].each([&](const Json& item) {
    const auto id = job_id(item.integer_or(0));
    if (id) return take(*id);
    status = Error(Errc::invalid, format("%s: a job must be a number from 1 on", name));
  });
  return status;
}

}  // namespace

Json encode_pod_jobs(const PodJobsChange& change) {
  Json jobs = Json::object();
  Json over = Json::object();
  Json gone = Json::array();
  for (const auto& [id, where] : change.jobs) {
    jobs.set(std::to_string(id), where.nodes);
    if (!where.over.empty()) over.set(std::to_string(id), where.over);
  }
  for (const std::uint32_t id : change.gone) gone.push(Json::integer(id));
  return Json::object()
      .set("op", "pod_jobs")
      .set("all", Json::boolean(change.is_all))
      .set("jobs", std::move(jobs))
      .set("over", std::move(over))
      .set("gone", std::move(gone));
}

Result<PodJobsChange> decode_pod_jobs(const Json& message) {
  if (!message["jobs"].is_object()) return Error(Errc::invalid, "jobs: must be an object");
  PodJobsChange change;
  change.is_all = message["all"].boolean_or(false);
  SLURMK8S_CHECK(take_nodes(message, "jobs",
                            [&](std::uint32_t id, std::string nodes) { change.jobs[id].nodes = std::move(nodes); }));
  SLURMK8S_CHECK(take_nodes(message, "over",
                            [&](std::uint32_t id, std::string nodes) { change.jobs[id].over = std::move(nodes); }));
  SLURMK8S_CHECK(take_ids(message, "gone", [&](std::uint32_t id) { change.gone.insert(id); }));
  if (change.jobs.size() > kMaxPodJobs) return Error(Errc::invalid, format("jobs: must be at most %zu", kMaxPodJobs));
  return change;
}

Json encode_report(const PodJobsReport& report) {
  Json running = Json::array();
  Json not_running = Json::array();
  for (const auto& [id, runs] : report.running) (runs ? running : not_running).push(Json::integer(id));
  return Json::object()
      .set("report", Json::integer(static_cast<std::int64_t>(report.taken)))
      .set("running", std::move(running))
      .set("not_running", std::move(not_running));
}

Result<PodJobsReport> decode_report(const Json& message) {
  const std::int64_t taken = message["report"].integer_or(-1);
  if (taken < 0) return Error(Errc::invalid, "report: must be a number");
  PodJobsReport report;
  report.taken = static_cast<std::uint64_t>(taken);
  SLURMK8S_CHECK(take_ids(message, "running", [&](std::uint32_t id) { report.running[id] = true; }));
  SLURMK8S_CHECK(take_ids(message, "not_running", [&](std::uint32_t id) { report.running[id] = false; }));
  return report;
}

}  // namespace slurmk8s
