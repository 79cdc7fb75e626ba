// SPDX-License-Identifier: GPL-2.0-or-later
// control/pod_jobs: messages about the bridge's jobs survive the way; bad ones name what is wrong.
#include "control/pod_jobs.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

Json text(const char* json) { return *Json::parse(json); }

void jobs_survive_the_way(void**) {
  const PodJobs jobs = {{12, {"c-[0-3]"}}, {13, {"c-4", "c-5"}}, {14, {"", "c-6"}}, {4294967295, {}}};
  for (const PodJobsChange& change : {PodJobsChange{true, jobs, {}}, PodJobsChange{false, jobs, {7, 8}}}) {
    const auto decoded = decode_pod_jobs(*Json::parse(encode_pod_jobs(change).dump()));
    assert_ok(decoded);
    assert_true(*decoded == change);
  }
  assert_text(encode_pod_jobs({true, {{12, {"c-0"}}}, {}}).dump(),
              R"({"op":"pod_jobs","all":true,"jobs":{"12":"c-0"},"over":{},"gone":[]})");
  assert_text(encode_pod_jobs({false, {{12, {"", "c-0"}}}, {7}}).dump(),
              R"({"op":"pod_jobs","all":false,"jobs":{"12":""},"over":{"12":"c-0"},"gone":[7]})");
}

void reports_survive_the_way(void**) {
  const PodJobsReport report{3, {{12, true}, {13, false}}};
  assert_text(encode_report(report).dump(), R"({"report":3,"running":[12],"not_running":[13]})");
  const auto decoded = decode_report(*Json::parse(encode_report(report).dump()));
  assert_ok(decoded);
  assert_true(*decoded == report);
}

void bad_jobs(void**) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {R"({"op":"pod_jobs"})", "jobs: must be an object"},
      {R"({"jobs":[12]})", "jobs: must be an object"},
      {R"({"jobs":{"x":"c-0"}})", "jobs[x]: must be a job's number, with a hostlist"},
      {R"({"jobs":{"0":"c-0"}})", "jobs[0]: must be"},
      {R"({"jobs":{"4294967296":"c-0"}})", "jobs[4294967296]: must be"},
      {R"({"jobs":{"12":7}})", "jobs[12]: must be"},
      {R"({"jobs":{},"over":{"0":"c-0"}})", "over[0]: must be"},
      {R"({"jobs":{},"over":{"12":["c-0"]}})", "over[12]: must be"},
      {R"({"jobs":{},"gone":[0]})", "gone: a job must be a number from 1 on"},
      {R"({"jobs":{},"gone":["12"]})", "gone: a job must be"},
  };
  for (const auto& c : cases) assert_error(decode_pod_jobs(text(c.text)), Errc::invalid, c.error);
}

void too_many_jobs(void**) {
  PodJobsChange change;
  for (std::uint32_t id = 1; id <= kMaxPodJobs; ++id) change.jobs[id] = {};
  assert_ok(decode_pod_jobs(encode_pod_jobs(change)));
  change.jobs[kMaxPodJobs + 1] = {};
  assert_error(decode_pod_jobs(encode_pod_jobs(change)), Errc::invalid, "jobs: must be at most 10000");
}

void bad_reports(void**) {
  for (const char* bad : {"{}", R"({"report":-1})", R"({"report":"1"})"}) {
    assert_error(decode_report(text(bad)), Errc::invalid, "report: must be a number");
  }
  assert_error(decode_report(text(R"({"report":1,"running":[0]})")), Errc::invalid, "running: a job must be a number");
  assert_error(decode_report(text(R"({"report":1,"not_running":["x"]})")), Errc::invalid, "not_running: a job must be");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(jobs_survive_the_way),
      SLURMK8S_TEST(reports_survive_the_way),
      SLURMK8S_TEST(bad_jobs),
      SLURMK8S_TEST(too_many_jobs),
      SLURMK8S_TEST(bad_reports),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
