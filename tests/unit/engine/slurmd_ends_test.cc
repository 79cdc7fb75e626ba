// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmdEnds: which job an end of slurmd is attributed to, and how many jobs are remembered. What follows:
// lost_jobs_test.
#include "engine/slurmd_ends.hpp"

#include "support/cmocka.hpp"

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

/** A node gets jobs until slurmctld is told. */
void a_run_that_began_later_does_not_count(void**) {
  SlurmdEnds ends;
  assert_true(ends.note({run(7, 0, kNow + 1)}, SlurmdEnd::out_of_memory, kNow).kind == Kind::none);
  assert_int_equal(ends.size(), 0);
  const SlurmdEndVerdict verdict = ends.note({run(7, 0, kNow + 1), run(8, 0)}, SlurmdEnd::out_of_memory, kNow);
  assert_true(verdict.kind == Kind::out_of_memory);
  assert_int_equal(verdict.job, 8);
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

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(decides),
      SLURMK8S_TEST(counts_runs_and_not_nodes),
      SLURMK8S_TEST(what_came_from_outside_does_not_count),
      SLURMK8S_TEST(a_run_that_began_later_does_not_count),
      SLURMK8S_TEST(a_neighbour_is_not_held),
      SLURMK8S_TEST(a_neighbour_that_began_later_is_held_first),
      SLURMK8S_TEST(remembers_a_bounded_number),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
