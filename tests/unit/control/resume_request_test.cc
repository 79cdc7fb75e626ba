// SPDX-License-Identifier: GPL-2.0-or-later
// SLURM_RESUME_FILE of every version that we run with, and what is wrong with one.
#include <string>

#include "control/resume_request.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

std::string text_of(const std::map<std::string, std::vector<std::uint32_t>>& jobs) {
  std::string text;
  for (const auto& [node, ids] : jobs) {
    text += node + ":";
    for (const auto id : ids) text += " " + std::to_string(id);
    text += "; ";
  }
  return text;
}

void layouts_of_all_versions(void**) {
  const struct {
    const char* name;
    const char* file;
    const char* expected;
  } cases[] = {
      {"22.05", R"({"all_nodes":"n[1-3]","jobs":[{"job_id":123,"nodes":"n[1-2]"},{"job_id":124,"nodes":"n[2-3]"}]})",
       "n1: 123; n2: 123 124; n3: 124; "},
      {"24.11",
       R"({"all_nodes_resume":"c-[0-1]","jobs":[{"extra":null,"features":"","job_id":5,)"
       R"("nodes_alloc":"c-[0-3]","nodes_resume":"c-[0-1]","oversubscribe":"OK",)"
       R"("partition":"all","reservation":null}]})",
       "c-0: 5; c-1: 5; "},
      {"26.05",
       R"({"all_nodes_resume":"c-0","jobs":[{"exclusive":"NO","priority":1,"job_id":7,)"
       R"("nodes_alloc":"c-0","nodes_resume":"c-0"}]})",
       "c-0: 7; "},
      {"a later version's keys",
       R"({"all_nodes_resume":"c-0","new":[1],"jobs":[{"job_id":7,"nodes_resume":"c-0","x":{}}]})", "c-0: 7; "},
      {"powered up by hand: no job", R"({"all_nodes_resume":"c-0","jobs":[]})", ""},
      {"a job with nothing to resume in this call",
       R"({"all_nodes_resume":"c-0","jobs":[{"job_id":7,"nodes_resume":null}]})", ""},
  };
  for (const auto& row : cases) {
    const auto jobs = parse_resume_file(row.file);
    if (!jobs) fail_msg("%s: %s", row.name, jobs.error().message().c_str());
    if (text_of(*jobs) != row.expected) fail_msg("%s: %s", row.name, text_of(*jobs).c_str());
  }
}

void bad_files_name_the_key(void**) {
  const struct {
    const char* file;
    const char* message;
  } cases[] = {
      {"", ""},
      {R"({"all_nodes_resume":"c-0","jobs":[{"job_id":7,)", ""},
      {"[]", "must be an object, not array"},
      {R"({"jobs":[]})", "all_nodes_resume"},
      {R"({"all_nodes_resume":"c-0"})", "jobs: must be an array"},
      {R"({"all_nodes_resume":"c-0","jobs":[{"nodes_resume":"c-0"}]})", "jobs[0].job_id"},
      {R"({"all_nodes_resume":"c-0","jobs":[{"job_id":-1,"nodes_resume":"c-0"}]})", "jobs[0].job_id"},
      {R"({"all_nodes_resume":"c-0","jobs":[{"job_id":1,"nodes_resume":"c-0"},{"job_id":2,"nodes_resume":"c-[0"}]})",
       "jobs[1].nodes_resume"},
      {R"({"all_nodes_resume":"c-0","jobs":[{"job_id":1,"nodes_resume":7}]})", "jobs[0].nodes_resume"},
  };
  for (const auto& row : cases) {
    const auto jobs = parse_resume_file(row.file);
    if (jobs) fail_msg("%s: taken", row.file);
    if (jobs.error().code() != Errc::invalid || jobs.error().message().find(row.message) == std::string::npos) {
      fail_msg("%s: %s", row.file, jobs.error().message().c_str());
    }
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(layouts_of_all_versions),
      SLURMK8S_TEST(bad_files_name_the_key),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
