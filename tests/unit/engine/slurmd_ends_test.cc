// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmdEnds: which job an end of slurmd is attributed to, and how many jobs are remembered. LostJobs: what follows.
#include "engine/slurmd_ends.hpp"

#include "engine/lost_jobs.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

using Kind = SlurmdEndVerdict::Kind;
constexpr std::time_t kNow = 1000;

EndedRun ended(std::uint32_t job, unsigned ends, std::chrono::seconds ran = 9s, std::uint32_t het_id = 0) {
  return {{job, 0, 0, het_id, 0, {}}, ends, ran};
}

struct Row {
  const char* what;
  std::vector<EndedRun> runs;
  SlurmdEnd end;
  Kind kind;
  std::uint32_t job;
};

void decides(void**) {
  const Row rows[] = {
      {"no job", {}, SlurmdEnd::error, Kind::none, 0},
      {"no job, memory", {}, SlurmdEnd::out_of_memory, Kind::none, 0},
      {"one job, its first", {ended(7, 1)}, SlurmdEnd::error, Kind::none, 0},
      {"one job, its second", {ended(7, 2)}, SlurmdEnd::error, Kind::hold, 7},
      {"killed from outside", {ended(7, 9)}, SlurmdEnd::other, Kind::none, 0},
      {"one job, memory", {ended(7, 1)}, SlurmdEnd::out_of_memory, Kind::out_of_memory, 7},
      {"components of one job, memory",
       {ended(7, 1, 9s, 7), ended(8, 1, 9s, 7)},
       SlurmdEnd::out_of_memory,
       Kind::out_of_memory,
       7},
      {"components of one job", {ended(7, 2, 9s, 7), ended(8, 2, 9s, 7)}, SlurmdEnd::error, Kind::hold, 7},
      {"several jobs, the first", {ended(7, 1), ended(8, 1)}, SlurmdEnd::error, Kind::none, 0},
      {"several jobs, memory", {ended(7, 1), ended(8, 1)}, SlurmdEnd::out_of_memory, Kind::none, 0},
      {"several jobs, memory, again: the one that ran shortest, whoever it was",
       {ended(7, 2, 9s), ended(8, 2, 3s)},
       SlurmdEnd::out_of_memory,
       Kind::hold,
       8},
      {"several jobs, one did it before", {ended(7, 2, 9s), ended(8, 1, 1s)}, SlurmdEnd::error, Kind::hold, 7},
      {"the same, the other order", {ended(8, 1, 1s), ended(7, 2, 9s)}, SlurmdEnd::out_of_memory, Kind::hold, 7},
      {"both were there twice: the one that ran shortest",
       {ended(8, 2, 9s), ended(7, 2, 3s)},
       SlurmdEnd::error,
       Kind::hold,
       7},
      {"both were there twice for as long", {ended(8, 2), ended(7, 2)}, SlurmdEnd::error, Kind::hold, 8},
      {"more ends count more than short runs", {ended(8, 2, 1s), ended(7, 3, 9s)}, SlurmdEnd::error, Kind::hold, 7},
  };
  for (const Row& row : rows) {
    const SlurmdEndVerdict verdict = judge_slurmd_end(row.runs, row.end);
    if (verdict.kind != row.kind || verdict.job != row.job) fail_msg("%s", row.what);
  }
}

LostRun run(std::uint32_t job, std::uint32_t restarts, std::time_t started = 100) {
  return {job, restarts, 0, 0, started, {}};
}

void counts_runs_and_not_nodes(void**) {
  SlurmdEnds ends;
  for (int node = 0; node < 4; ++node) assert_true(ends.note({run(7, 0)}, SlurmdEnd::error, kNow).kind == Kind::none);
  const SlurmdEndVerdict verdict = ends.note({run(7, 1)}, SlurmdEnd::error, kNow);
  assert_true(verdict.kind == Kind::hold);
  assert_int_equal(verdict.ends, 2);
}

void what_came_from_outside_does_not_count(void**) {
  SlurmdEnds ends;
  ends.note({run(7, 0)}, SlurmdEnd::other, kNow);
  ends.note({run(7, 1)}, SlurmdEnd::other, kNow);
  assert_true(ends.note({run(7, 2)}, SlurmdEnd::error, kNow).kind == Kind::none);
}

/** Both jobs come back together: only the first end tells them apart. */
void a_neighbour_is_not_held(void**) {
  SlurmdEnds ends;
  ends.note({run(7, 0, 90), run(8, 0, 10)}, SlurmdEnd::error, 100);
  assert_int_equal(ends.note({run(7, 1, 200), run(8, 1, 201)}, SlurmdEnd::error, 203).job, 7);
  // Whoever is released goes on with its count.
  assert_int_equal(ends.note({run(8, 2, 300)}, SlurmdEnd::error, 301).job, 8);
}

/** Job 7 fills the pod, and job 8 began after it. Without 8 the next end is plainly that of 7. */
void a_neighbour_that_began_later_is_held_first(void**) {
  SlurmdEnds ends;
  assert_true(ends.note({run(7, 0, 10), run(8, 0, 90)}, SlurmdEnd::out_of_memory, 100).kind == Kind::none);
  SlurmdEndVerdict verdict = ends.note({run(7, 1, 200), run(8, 1, 200)}, SlurmdEnd::out_of_memory, 210);
  assert_true(verdict.kind == Kind::hold);
  assert_int_equal(verdict.job, 8);
  verdict = ends.note({run(7, 2, 300)}, SlurmdEnd::out_of_memory, 310);
  assert_true(verdict.kind == Kind::out_of_memory);
  assert_int_equal(verdict.job, 7);
}

void remembers_a_bounded_number(void**) {
  SlurmdEnds ends;
  ends.note({run(1, 0)}, SlurmdEnd::error, kNow);
  for (std::uint32_t job = 10; job < 9 + SlurmdEnds::kMaxJobs; ++job) ends.note({run(job, 0)}, SlurmdEnd::error, kNow);
  assert_int_equal(ends.size(), SlurmdEnds::kMaxJobs);
  assert_int_equal(ends.note({run(1, 1)}, SlurmdEnd::error, kNow).job, 1);  // and is the last one now
  for (std::uint32_t job = 10000; job < 10000 + SlurmdEnds::kMaxJobs; ++job) {
    ends.note({run(job, 0)}, SlurmdEnd::error, kNow);
  }
  assert_int_equal(ends.size(), SlurmdEnds::kMaxJobs);
  assert_true(ends.note({run(1, 2)}, SlurmdEnd::error, kNow).kind == Kind::none);
}

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

void ends_a_job_that_fills_its_pod(void**) {
  FakeSlurm slurm;
  LostJobs lost_jobs(true);
  slurm.runs = {{7, 0, 0, 0, "c-0", 100}};
  NodeFailure failure = failure_of("c-0", SlurmdEnd::out_of_memory);
  lost_jobs.note(slurm, failure, TimePoint{1h}, kNow);
  assert_int_equal(failure.out_of_memory, 7);
}

/** The node that is set DOWN requeues its jobs: afterwards it is too late. */
void it_ends_before_its_node_is_down(void**) {
  FakeSlurm slurm;
  slurm.node("c-0").powered_down = false;
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
  assert_contains(slurm.calls.at(1), "down c-0");
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
      SLURMK8S_TEST(decides),
      SLURMK8S_TEST(counts_runs_and_not_nodes),
      SLURMK8S_TEST(what_came_from_outside_does_not_count),
      SLURMK8S_TEST(a_neighbour_is_not_held),
      SLURMK8S_TEST(a_neighbour_that_began_later_is_held_first),
      SLURMK8S_TEST(remembers_a_bounded_number),
      SLURMK8S_TEST(tells_all_and_holds_one),
      SLURMK8S_TEST(ends_a_job_that_fills_its_pod),
      SLURMK8S_TEST(it_ends_before_its_node_is_down),
      SLURMK8S_TEST(a_job_that_can_not_be_ended_is_requeued),
      SLURMK8S_TEST(holds_without_fast_requeue_too),
      SLURMK8S_TEST(a_start_that_failed_is_no_end),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
