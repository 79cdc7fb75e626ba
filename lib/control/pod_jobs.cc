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

Status take_jobs(const Json& list, bool running, std::map<std::uint32_t, bool>& jobs) {
  Status status;
  list.each([&](const Json& item) {
    const auto id = job_id(item.integer_or(0));
    if (id) jobs[*id] = running;
    if (!id) status = Error(Errc::invalid, "report: a job must be a number from 1 on");
  });
  return status;
}

}  // namespace

Json encode_pod_jobs(const PodJobs& jobs) {
  Json list = Json::object();
  for (const auto& [id, nodes] : jobs) list.set(std::to_string(id), nodes);
  return Json::object().set("op", "pod_jobs").set("jobs", std::move(list));
}

Result<PodJobs> decode_pod_jobs(const Json& message) {
  const Json list = message["jobs"];
  if (!list.is_object()) return Error(Errc::invalid, "jobs: must be an object");
  PodJobs jobs;
  Status status;
  list.each([&](std::string_view key, const Json& nodes) {
    const auto id = job_id(parse_int(key));
    if (!id || !nodes.is_string()) {
      status = Error(Errc::invalid, format("jobs[%.*s]: must be a job's number, with a hostlist",
                                           static_cast<int>(key.size()), key.data()));
      return;
    }
    jobs.emplace(*id, nodes.text());
  });
  SLURMK8S_CHECK(status);
  if (jobs.size() > kMaxPodJobs) return Error(Errc::invalid, format("jobs: must be at most %zu", kMaxPodJobs));
  return jobs;
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
  SLURMK8S_CHECK(take_jobs(message["running"], true, report.running));
  SLURMK8S_CHECK(take_jobs(message["not_running"], false, report.running));
  return report;
}

}  // namespace slurmk8s
