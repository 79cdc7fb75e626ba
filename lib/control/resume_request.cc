// SPDX-License-Identifier: GPL-2.0-or-later
// SLURM_RESUME_FILE, whose layout has changed with Slurm's versions (src/slurmctld/power_save.c).
#include "control/resume_request.hpp"

#include "slurm/hostlist.hpp"
#include "base/strings.hpp"

namespace slurmk8s {
namespace {

Error bad(std::size_t index, const char* key, const std::string& what) {
  return Error(Errc::invalid, format("jobs[%zu].%s: %s", index, key, what.c_str()));
}

}  // namespace

Result<std::map<std::string, std::vector<std::uint32_t>>> parse_resume_file(std::string_view text) {
  const Json root = SLURMK8S_TRY(Json::parse(text));
  if (!root.is_object()) {
    return Error(Errc::invalid, format("must be an object, not %s", std::string(root.type_name()).c_str()));
  }
  if (!root["all_nodes"].is_string() && !root["all_nodes_resume"].is_string()) {
    return Error(Errc::invalid, "neither all_nodes_resume (Slurm 23.02 and later) nor all_nodes (22.05) is there");
  }
  const Json jobs = root["jobs"];
  if (!jobs.is_array()) return Error(Errc::invalid, "jobs: must be an array");

  std::map<std::string, std::vector<std::uint32_t>> by_node;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Json job = jobs[i];
    const std::int64_t id = job["job_id"].integer_or(-1);
    if (id <= 0 || id > UINT32_MAX) return bad(i, "job_id", "must be a positive number");
    const Json resume = job["nodes_resume"].is_null() ? job["nodes"] : job["nodes_resume"];
    if (resume.is_null()) continue;  // nothing of this job is to be resumed in this call
    if (!resume.is_string()) return bad(i, "nodes_resume", "must be a hostlist");
    auto nodes = expand_hostlist(resume.text());
    if (!nodes) return bad(i, "nodes_resume", nodes.error().message());
    for (const std::string& node : *nodes) by_node[node].push_back(static_cast<std::uint32_t>(id));
  }
  return by_node;
}

}  // namespace slurmk8s
