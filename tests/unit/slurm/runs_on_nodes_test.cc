// SPDX-License-Identifier: GPL-2.0-or-later
// RunsOnNodes: the jobs of a lost node, and how rarely slurmctld is asked for them.
#include "slurm/runs_on_nodes.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

std::string ids(const std::vector<LostRun>& runs) {
  std::string text;
  for (const LostRun& run : runs) text += (text.empty() ? "" : ",") + std::to_string(run.job);
  return text;
}

void finds_the_jobs_of_a_node(void**) {
  const TimePoint now{1h};
  FakeSlurm slurm;
  slurm.runs = {{1, 0, 0, 5, "c-[0-3]", 0}, {2, 0, 4, 6, "c-1", 0}, {3, 3, 0, 7, "c-5", 0}, {4, 3, 0, 7, "c-6", 0}};
  RunsOnNodes runs;
  assert_text(ids(runs.on(slurm, "c-1", now)), "1,2");
  assert_text(ids(runs.on(slurm, "c-3", now)), "1");
  assert_text(ids(runs.on(slurm, "c-6", now)), "3,4");  // a heterogeneous job is requeued as a whole
  assert_text(ids(runs.on(slurm, "c-9", now)), "");
  assert_int_equal(runs.on(slurm, "c-1", now)[1].restarts, 4);
  assert_int_equal(runs.on(slurm, "c-1", now)[1].submitted, 6);
}

void an_outage_is_one_list_of_jobs(void**) {
  const TimePoint now{1h};
  FakeSlurm slurm;
  RunsOnNodes runs;
  for (int i = 0; i < 1000; ++i) runs.on(slurm, "c-" + std::to_string(i), now);
  assert_int_equal(slurm.run_loads, 1);
  runs.on(slurm, "c-0", now + 2s);
  assert_int_equal(slurm.run_loads, 2);
}

/** What is said of a job must not be older than its reason: the job may have ended since. */
void a_list_from_before_is_not_used(void**) {
  const TimePoint now{1h};
  FakeSlurm slurm;
  slurm.runs = {{1, 0, 0, 5, "c-0", 0}};
  RunsOnNodes runs;
  assert_text(ids(runs.on(slurm, "c-0", now)), "1");
  slurm.runs = {{2, 0, 0, 5, "c-0", 0}};
  const auto seen = std::chrono::steady_clock::now();
  assert_text(ids(runs.on(slurm, "c-0", now)), "1");
  assert_text(ids(runs.on(slurm, "c-0", now, seen)), "2");
  for (int i = 0; i < 1000; ++i) runs.on(slurm, "c-0", now, seen);  // seen together: one list for all
  assert_int_equal(slurm.run_loads, 2);
  slurm.fail_loads = true;
  slurm.failures = {Error(Errc::timeout, "x")};
  assert_text(ids(runs.on(slurm, "c-0", now, std::chrono::steady_clock::now())), "");
}

void slurmctld_can_not_be_asked(void**) {
  const TimePoint now{1h};
  FakeSlurm slurm;
  slurm.runs = {{1, 0, 0, 5, "c-0", 0}};
  slurm.fail_loads = true;
  slurm.failures = {Error(Errc::timeout, "x")};
  RunsOnNodes runs;
  assert_text(ids(runs.on(slurm, "c-0", now)), "");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(finds_the_jobs_of_a_node),
      SLURMK8S_TEST(an_outage_is_one_list_of_jobs),
      SLURMK8S_TEST(a_list_from_before_is_not_used),
      SLURMK8S_TEST(slurmctld_can_not_be_asked),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
