// SPDX-License-Identifier: GPL-2.0-or-later
// engine/lost_jobs: the jobs of a lost node: who is told, who is held or ended, and that it happens in time.
#include "engine/lost_jobs.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

constexpr std::time_t kNow = 1000;

NodeFailure failure_of(const char* node, SlurmdEnd end) {
  NodeFailure failure{node, "pod ended: slurmd ended with exit code 1: fatal: x", {}, true, {7}};
  failure.slurmd_end = end;
  return failure;
}

void tells_all_and_holds_one(void**) {
  FakeSlurm slurm;
  LostJobs lost_jobs(true);
  slurm.runs = {{7, 0, 0, 0, "c-0", 100}, {8, 0, 0, 0, "c-[0-1]", 50}};
  NodeFailure failure = failure_of("c-0", SlurmdEnd::error);
  for (const LostRun& lost : lost_jobs.note(slurm, failure, TimePoint{1h}, kNow)) assert_text(lost.held_for, "");
  assert_true(failure.jobs == (std::vector<std::uint32_t>{7, 8}));

  slurm.runs = {{7, 0, 1, 0, "c-1", 200}, {9, 0, 0, 0, "c-1", 150}};
  failure = failure_of("c-1", SlurmdEnd::error);
  const std::vector<LostRun> lost = lost_jobs.note(slurm, failure, TimePoint{2h}, kNow + 3600);
  assert_int_equal(lost.size(), 2);
  assert_text(lost[0].held_for,
              "slurm-k8s: node c-1: job held: slurmd ended 2 times while it ran: pod ended: slurmd "
              "ended with exit code 1: fatal: x");
  assert_text(lost[1].held_for, "");
  assert_int_equal(failure.out_of_memory, 0);
}

/** Job 7 waited for nodes of a broken image, twice; later job 8 ends slurmd beside it. */
void a_job_that_waits_for_its_nodes_is_innocent(void**) {
  FakeSlurm slurm;
  LostJobs lost_jobs(true);
  for (std::uint32_t restarts = 0; restarts < 2; ++restarts) {
    slurm.runs = {{7, 0, restarts, 0, "c-0", 100, "", true}};
    NodeFailure failure = failure_of("c-0", SlurmdEnd::error);
    const std::vector<LostRun> lost = lost_jobs.note(slurm, failure, TimePoint{1h * (restarts + 1)}, kNow);
    assert_int_equal(lost.size(), 1);  // it is requeued at once all the same
    assert_text(lost[0].held_for, "");
  }
  slurm.runs = {{7, 0, 2, 0, "c-1", 100}, {8, 0, 0, 0, "c-1", 100}};
  NodeFailure failure = failure_of("c-1", SlurmdEnd::error);
  for (const LostRun& lost : lost_jobs.note(slurm, failure, TimePoint{5h}, kNow)) assert_text(lost.held_for, "");
}

void ends_a_job_that_fills_its_pod(void**) {
  FakeSlurm slurm;
  LostJobs lost_jobs(true);
  slurm.runs = {{7, 0, 0, 0, "c-0", 100}};
  NodeFailure failure = failure_of("c-0", SlurmdEnd::out_of_memory);
  lost_jobs.note(slurm, failure, TimePoint{1h}, kNow);
  assert_int_equal(failure.out_of_memory, 7);
}

/** Job 8 has reached its time limit: its processes have KillWait to end, and may fill the pod meanwhile. */
void a_job_beside_one_that_ends_is_requeued(void**) {
  FakeSlurm slurm;
  LostJobs lost_jobs(true);
  slurm.runs = {{7, 0, 0, 0, "c-0", 100}, {8, 0, 0, 0, "c-0", 100, "", false, true}};
  NodeFailure failure = failure_of("c-0", SlurmdEnd::out_of_memory);
  const std::vector<LostRun> lost = lost_jobs.note(slurm, failure, TimePoint{1h}, kNow);
  assert_int_equal(failure.out_of_memory, 0);
  assert_int_equal(lost.size(), 1);
  assert_int_equal(lost[0].job, 7);
  assert_true(failure.jobs == std::vector<std::uint32_t>{7});
}

/** Job 7 has ended since it was listed, for a node that was lost before, and job 8 has its place. */
void a_job_that_has_gone_is_not_blamed(void**) {
  for (const SlurmdEnd end : {SlurmdEnd::out_of_memory, SlurmdEnd::error}) {
    FakeSlurm slurm;
    LostJobs lost_jobs(true);
    slurm.runs = {{7, 0, 0, 0, "c-0", 100}, {9, 0, 0, 0, "c-1", 100}};
    NodeFailure failure = failure_of("c-1", SlurmdEnd::other);
    lost_jobs.note(slurm, failure, TimePoint{1h}, kNow);
    slurm.runs = {{8, 0, 0, 0, "c-0", 900}};
    failure = failure_of("c-0", end);
    failure.seen = std::chrono::steady_clock::now();
    const std::vector<LostRun> runs = lost_jobs.note(slurm, failure, TimePoint{1h}, kNow);
    assert_int_equal(runs.size(), 1);
    assert_int_equal(runs.front().job, 8);
    assert_int_equal(failure.out_of_memory, end == SlurmdEnd::error ? 0 : 8);
  }
}

/** The node that is set DOWN requeues its jobs: afterwards it is too late. */
void it_ends_before_its_node_is_down(void**) {
  FakeSlurm slurm;
  slurm.node("c-0").powered_down = false;
  slurm.jobs[7].id = 7;
  NodeFailure failure = failure_of("c-0", SlurmdEnd::out_of_memory);
  failure.out_of_memory = 7;
  assert_true(fail_node(slurm, failure).ok());
  assert_text(slurm.calls.at(0), "end out of memory 7");
  assert_contains(slurm.calls.at(1), "down c-0");

  slurm.calls.clear();
  slurm.node("c-1").powering_up = true;  // it has not served yet
  slurm.node("c-1").powered_down = false;
  failure.node = "c-1";
  assert_true(fail_node(slurm, failure).ok());
  assert_contains(slurm.calls.at(0), "down c-1");
}

void a_job_that_can_not_be_ended_is_requeued(void**) {
  FakeSlurm slurm;
  slurm.node("c-0").powered_down = false;
  NodeFailure failure = failure_of("c-0", SlurmdEnd::out_of_memory);
  failure.jobs.clear();
  failure.out_of_memory = 7;
  slurm.failures = {Error(Errc::timeout, "x")};
  assert_true(fail_node(slurm, failure).ok());
  assert_contains(slurm.calls.at(0), "down c-0");
}

/** slurmctld would cancel it. */
void a_job_that_is_pending_again_is_not_ended(void**) {
  FakeSlurm slurm;
  slurm.node("c-0").powered_down = false;
  slurm.jobs[7] = {.id = 7, .pending = true};
  NodeFailure failure = failure_of("c-0", SlurmdEnd::out_of_memory);
  failure.out_of_memory = 7;
  assert_true(fail_node(slurm, failure).ok());
  assert_contains(slurm.calls.at(0), "down c-0");
}

void holds_without_fast_requeue_too(void**) {
  FakeSlurm slurm;
  LostJobs lost_jobs(false);
  NodeFailure failure = failure_of("c-0", SlurmdEnd::error);
  slurm.runs = {{7, 0, 0, 0, "c-0", 100}, {8, 0, 0, 0, "c-0", 50}};
  assert_int_equal(lost_jobs.note(slurm, failure, TimePoint{1h}, kNow).size(), 0);
  slurm.runs = {{7, 0, 1, 0, "c-0", 100}, {8, 0, 1, 0, "c-0", 50}};
  const std::vector<LostRun> lost = lost_jobs.note(slurm, failure, TimePoint{2h}, kNow + 3600);
  assert_int_equal(lost.size(), 1);
  assert_int_equal(lost[0].job, 7);
}

void a_start_that_failed_is_no_end(void**) {
  FakeSlurm slurm;
  LostJobs lost_jobs(true);
  slurm.runs = {{7, 0, 0, 0, "c-0", 100}};
  NodeFailure failure = failure_of("c-0", SlurmdEnd::error);
  failure.served = false;
  assert_int_equal(lost_jobs.note(slurm, failure, TimePoint{1h}, kNow).size(), 0);
  assert_int_equal(slurm.run_loads, 0);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(tells_all_and_holds_one),           SLURMK8S_TEST(a_job_that_waits_for_its_nodes_is_innocent),
      SLURMK8S_TEST(ends_a_job_that_fills_its_pod),     SLURMK8S_TEST(a_job_beside_one_that_ends_is_requeued),
      SLURMK8S_TEST(it_ends_before_its_node_is_down),   SLURMK8S_TEST(a_job_that_can_not_be_ended_is_requeued),
      SLURMK8S_TEST(a_job_that_has_gone_is_not_blamed), SLURMK8S_TEST(a_job_that_is_pending_again_is_not_ended),
      SLURMK8S_TEST(holds_without_fast_requeue_too),    SLURMK8S_TEST(a_start_that_failed_is_no_end),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
