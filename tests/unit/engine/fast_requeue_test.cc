// SPDX-License-Identifier: GPL-2.0-or-later
// FastRequeue: which requeued jobs begin at once, which keep Slurm's delay, and what that costs slurmctld.
#include "engine/fast_requeue.hpp"

#include "event/timers.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"
#include "support/timer_caller.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

constexpr std::time_t kRequeued = 1000;  // slurmctld's second of the requeue
const LostRun kLost{7, 2, 500, 0, 0, {}};
const LostRun kHeld{7, 2, 500, 0, 0, "slurm-k8s: node c-0: job held: slurmd ended 2 times while it ran: x"};

/** As slurmctld shows it when its former run has ended on all nodes: 30 s of delay. */
SlurmJob requeued() {
  SlurmJob job;
  job.id = 7;
  job.pending = true;
  job.restarts = 3;
  job.submitted = kRequeued;
  job.begin = kRequeued + 31;
  return job;
}

struct Row {
  const char* what;
  void (*change)(SlurmJob& job);
  std::time_t now;
  RequeueStep expected;
};

constexpr Row kRows[] = {
    {"the second of the revoke", [](SlurmJob&) {}, kRequeued, RequeueStep::wait},
    {"the next second", [](SlurmJob&) {}, kRequeued + 1, RequeueStep::begin},
    {"requeued in the second of its last submit", [](SlurmJob& job) { job.begin--; }, kRequeued + 1,
     RequeueStep::begin},
    {"one of its nodes still ends it", [](SlurmJob& job) { job.completing = true; }, kRequeued + 1, RequeueStep::wait},
    {"EpilogSlurmctld runs", [](SlurmJob& job) { job.submitted = 500, job.begin = 400; }, kRequeued, RequeueStep::wait},
    {"it runs again", [](SlurmJob& job) { job.pending = false; }, kRequeued + 1, RequeueStep::leave},
    {"--no-kill: it was not requeued", [](SlurmJob& job) { job.pending = false, job.restarts = 2; }, kRequeued + 1,
     RequeueStep::leave},
    {"requeued by a person before", [](SlurmJob& job) { job.restarts = 2; }, kRequeued + 1, RequeueStep::leave},
    {"requeued once more by a person", [](SlurmJob& job) { job.restarts = 4; }, kRequeued + 1, RequeueStep::leave},
    {"held", [](SlurmJob& job) { job.held = true; }, kRequeued + 1, RequeueStep::leave},
    {"of scrontab", [](SlurmJob& job) { job.cron = true; }, kRequeued + 1, RequeueStep::leave},
    {"its user chose a later time", [](SlurmJob& job) { job.begin = kRequeued + 3600; }, kRequeued + 1,
     RequeueStep::leave},
    {"its user chose an earlier time", [](SlurmJob& job) { job.begin = kRequeued + 10; }, kRequeued + 1,
     RequeueStep::leave},
    {"the delay is over", [](SlurmJob&) {}, kRequeued + 31, RequeueStep::leave},
    {"it may begin already", [](SlurmJob& job) { job.begin = 0; }, kRequeued + 1, RequeueStep::leave},
};

void decides(void**) {
  for (const Row& row : kRows) {
    SlurmJob job = requeued();
    row.change(job);
    if (judge_requeue(kLost, job, 30s, row.now) != row.expected) fail_msg("%s", row.what);
  }
}

constexpr Row kHeldRows[] = {
    {"the second of the revoke", [](SlurmJob&) {}, kRequeued, RequeueStep::hold},
    {"one of its nodes still ends it", [](SlurmJob& job) { job.completing = true; }, kRequeued + 1, RequeueStep::wait},
    {"EpilogSlurmctld runs", [](SlurmJob& job) { job.submitted = 500; }, kRequeued, RequeueStep::wait},
    {"its user chose a later time", [](SlurmJob& job) { job.begin = kRequeued + 3600; }, kRequeued + 1,
     RequeueStep::hold},
    {"it may begin already", [](SlurmJob& job) { job.begin = 0; }, kRequeued + 1, RequeueStep::hold},
    {"it runs again", [](SlurmJob& job) { job.pending = false; }, kRequeued + 1, RequeueStep::leave},
    {"--no-requeue: it has ended", [](SlurmJob& job) { job.pending = false, job.restarts = 2; }, kRequeued,
     RequeueStep::leave},
    {"held by its user", [](SlurmJob& job) { job.held = true; }, kRequeued + 1, RequeueStep::leave},
    {"requeued once more by a person", [](SlurmJob& job) { job.restarts = 4; }, kRequeued + 1, RequeueStep::leave},
};

void decides_about_a_job_to_be_held(void**) {
  for (const Row& row : kHeldRows) {
    SlurmJob job = requeued();
    row.change(job);
    if (judge_requeue(kHeld, job, 30s, row.now) != row.expected) fail_msg("%s", row.what);
  }
}

struct World {
  FakeClock clock;
  Timers timers{clock};
  FakeSlurm slurm;
  int begun = 0;

  TimerCaller caller{timers, slurm};
  FastRequeue requeues{caller, timers, clock, [this] { ++begun; }};

  std::time_t now() const { return std::chrono::system_clock::to_time_t(clock.wall()); }

  /** Job `id` lost its node now, and has been requeued. */
  LostRun lose(std::uint32_t id) {
    SlurmJob& job = slurm.jobs[id];
    const LostRun lost{id, job.restarts, job.submitted, 0, 0, {}};
    job.id = id;
    job.pending = true;
    job.restarts++;
    job.submitted = now();
    job.begin = now() + 31;
    return lost;
  }
  void pass(std::chrono::milliseconds time) {
    for (auto left = time; left.count() > 0; left -= 50ms) {
      clock.advance(50ms);
      timers.run_due();
    }
  }
  std::size_t begins() const {
    return static_cast<std::size_t>(std::count_if(slurm.calls.begin(), slurm.calls.end(),
                                                  [](const std::string& call) { return call.starts_with("begin "); }));
  }
};

void begins_in_the_next_second(void**) {
  World world;
  world.requeues.add({world.lose(7)});
  world.pass(900ms);
  assert_int_equal(world.begins(), 0);
  world.pass(400ms);
  assert_int_equal(world.begins(), 1);
  assert_text(world.slurm.calls.at(0), "begin 7");
  assert_int_equal(world.begun, 1);
  assert_int_equal(world.requeues.waiting(), 0);
}

void waits_for_nodes_that_end_it(void**) {
  World world;
  const LostRun lost = world.lose(7);
  world.slurm.jobs[7].completing = true;
  world.slurm.jobs[7].submitted = lost.submitted;
  world.requeues.add({lost});
  world.pass(8s);
  assert_int_equal(world.begins(), 0);
  world.slurm.jobs[7].completing = false;
  world.slurm.jobs[7].submitted = world.now();
  world.slurm.jobs[7].begin = world.now() + 31;
  world.pass(1500ms);
  assert_int_equal(world.begins(), 1);
}

void tries_again_when_slurmctld_is_away(void**) {
  World world;
  world.requeues.add({world.lose(7)});
  world.slurm.failures = {Error(Errc::unavailable, "x"), Error(Errc::timeout, "x")};
  world.pass(2s);
  assert_int_equal(world.begins(), 1);
}

void gives_up_a_job_that_never_ends(void**) {
  World world;
  world.requeues.add({world.lose(7)});
  world.slurm.jobs[7].completing = true;
  world.pass(122s);
  assert_int_equal(world.requeues.waiting(), 0);
  assert_false(world.timers.until_next().has_value());
}

void a_job_that_loses_nodes_again_and_again(void**) {
  World world;
  for (int times = 1; times <= 5; ++times) {
    world.requeues.add({world.lose(7)});
    world.pass(2s);
  }
  assert_int_equal(world.begins(), 3);
  world.pass(600s);
  world.requeues.add({world.lose(7)});
  world.pass(2s);
  assert_int_equal(world.begins(), 4);
}

void a_job_to_be_held_does_not_begin(void**) {
  World world;
  LostRun lost = world.lose(7);
  world.requeues.add({lost});  // another of its nodes, which was lost first
  lost.held_for = kHeld.held_for;
  world.requeues.add({lost});
  world.slurm.failures = {Error(Errc::timeout, "x")};
  world.pass(3s);
  assert_int_equal(world.begins(), 0);
  assert_true(world.slurm.jobs[7].held);
  assert_text(world.slurm.jobs[7].admin_comment, kHeld.held_for);
  assert_int_equal(world.requeues.waiting(), 0);
  assert_int_equal(world.begun, 0);
}

void is_held_however_often_it_began_at_once(void**) {
  World world;
  for (int times = 0; times < 3; ++times) {
    world.requeues.add({world.lose(7)});
    world.pass(2s);
  }
  LostRun lost = world.lose(7);
  lost.held_for = kHeld.held_for;
  world.requeues.add({lost});
  world.pass(2s);
  assert_true(world.slurm.jobs[7].held);
}

/** One that ends slurmd is held although there are too many others, and however long its end takes. */
void is_held_whatever_else_waits(void**) {
  World world;
  std::vector<LostRun> lost;
  for (std::uint32_t id = 100; id < 100 + FastRequeue::kMaxJobs; ++id) {
    lost.push_back(world.lose(id));
    world.slurm.jobs[id].completing = true;
  }
  world.requeues.add(lost);
  LostRun run = world.lose(7);
  run.held_for = kHeld.held_for;
  world.slurm.jobs[7].completing = true;
  world.requeues.add({run});
  world.pass(300s);
  assert_int_equal(world.requeues.waiting(), 1);
  world.slurm.jobs[7].completing = false;
  world.pass(3s);
  assert_true(world.slurm.jobs[7].held);
}

/** Of a run that is lost while the engine still waits for the former one. */
void is_held_for_a_later_run(void**) {
  World world;
  const LostRun former = world.lose(7);
  LostRun later = world.lose(7);
  later.submitted -= 5;
  later.held_for = kHeld.held_for;
  world.requeues.add({former});
  world.requeues.add({later});
  world.pass(3s);
  assert_true(world.slurm.jobs[7].held);
}

void is_bounded(void**) {
  World world;
  std::vector<LostRun> lost;
  for (std::uint32_t id = 1; id <= FastRequeue::kMaxJobs + 10; ++id) lost.push_back(world.lose(id));
  world.requeues.add(lost);
  assert_int_equal(world.requeues.waiting(), FastRequeue::kMaxJobs);
  // A hundred at a time. How long the pauses are depends on the time that the calls take, on this machine's clock.
  for (int i = 0; i < 40 && world.begins() < FastRequeue::kMaxJobs; ++i) world.pass(500ms);
  assert_int_equal(world.begins(), FastRequeue::kMaxJobs);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(decides),
      SLURMK8S_TEST(begins_in_the_next_second),
      SLURMK8S_TEST(waits_for_nodes_that_end_it),
      SLURMK8S_TEST(tries_again_when_slurmctld_is_away),
      SLURMK8S_TEST(gives_up_a_job_that_never_ends),
      SLURMK8S_TEST(a_job_that_loses_nodes_again_and_again),
      SLURMK8S_TEST(decides_about_a_job_to_be_held),
      SLURMK8S_TEST(a_job_to_be_held_does_not_begin),
      SLURMK8S_TEST(is_held_however_often_it_began_at_once),
      SLURMK8S_TEST(is_held_whatever_else_waits),
      SLURMK8S_TEST(is_held_for_a_later_run),
      SLURMK8S_TEST(is_bounded),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
