// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/job_keeper: what is known of a job when answers come late.
#include "bridge/job_keeper.hpp"

#include <deque>
#include <utility>

#include "support/cmocka.hpp"
#include "support/fake_allocations.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using State = Allocation::State;
using Since = JobKeeper::Since;
using std::chrono::milliseconds;

/** slurmctld is asked at once, and its answers come when a test wants them. */
class LateCaller final : public AllocationCaller {
 public:
  explicit LateCaller(Allocations& slurm) : slurm_(slurm) {}
  void call(Work work) override { answers_.push_back(work(slurm_)); }
  void answer() {
    for (const Then& then : std::exchange(answers_, {})) then();
  }

 private:
  Allocations& slurm_;
  std::deque<Then> answers_;
};

struct Fixture {
  FakeAllocations slurm;
  LateCaller caller{slurm};
  FakeClock clock;
  int changes = 0;
  JobKeeper jobs{caller, clock, [this](auto) { ++changes; }, [] { return std::set<std::uint32_t>(); }};

  /** Job 1, which is being configured on c-0. */
  Fixture() {
    AllocationRequest request;
    request.user = request.group = 2001;
    request.comment = "k8s:a/Pod/p:1";
    jobs.submit(request, [](const auto&) {});
    caller.answer();
    slurm.configure(1, {{"c-0", 1}});
    jobs.load({1}, Since::any);
    caller.answer();
  }
  State state() const { return jobs.known().jobs.at(1).state; }
  void later() { clock.advance(milliseconds(10)); }
};

void an_older_answer_takes_no_start_back(void**) {
  for (const bool is_list : {false, true}) {
    Fixture f;
    assert_true(f.state() == State::configuring);
    f.later();
    if (is_list) {
      f.jobs.load(Since::any);
    } else {
      f.jobs.load({1}, Since::any);
    }
    f.later();
    f.slurm.start(1, {{"c-0", 1}});
    f.jobs.note_start(1);
    assert_true(f.state() == State::running);
    f.caller.answer();
    assert_true(f.state() == State::running);
  }
}

void a_later_answer_counts(void**) {
  for (const bool is_list : {false, true}) {
    Fixture f;
    f.jobs.note_start(1);
    f.later();
    f.slurm.end(1, "TIMEOUT");
    if (is_list) {
      f.jobs.load(Since::any);
    } else {
      f.jobs.load({1}, Since::any);
    }
    f.caller.answer();
    assert_true(f.state() == State::ended);
  }
}

// A slurmctld that was killed had not saved the start.
void a_start_can_be_lost(void**) {
  Fixture f;
  f.jobs.note_start(1);
  f.later();
  f.jobs.load(Since::any);
  f.caller.answer();
  assert_true(f.state() == State::configuring);
}

void an_end_is_known_without_a_call(void**) {
  Fixture f;
  f.jobs.note_start(1);
  f.slurm.start(1, {{"c-0", 1}});
  f.jobs.load(Since::any);  // answered after the end
  f.later();
  const int before = f.slurm.single_loads;
  f.jobs.end(1, f.slurm.jobs.at(1).submitted, {JobResult::Kind::completed}, [] {});
  f.caller.answer();
  assert_true(f.state() == State::ended);
  assert_int_equal(f.slurm.single_loads, before + 1);  // whether it is still the same job
}

void a_job_without_nodes_is_not_noted(void**) {
  Fixture f;
  f.slurm.configure(1, {});
  f.jobs.load({1}, Since::any);
  f.caller.answer();
  f.jobs.note_start(1);
  assert_true(f.state() == State::configuring);
  f.jobs.note_start(7);  // not known
  assert_false(f.jobs.known().jobs.contains(7));
}

void what_a_list_waits_for_is_not_its_time(void**) {
  Fixture f;
  f.jobs.load(Since::any);
  f.clock.advance(std::chrono::seconds(5));
  f.caller.answer();
  assert_true(f.jobs.list_time() < std::chrono::seconds(5));
}

/** slurmctld answered before the change, and the answer is on its way. */
void a_change_while_an_answer_is_on_its_way_is_asked_for(void**) {
  for (const bool is_list : {false, true}) {
    Fixture f;
    const auto load = [&](Since since) { is_list ? f.jobs.load(since) : f.jobs.load({1}, since); };
    load(Since::any);
    f.slurm.start(1, {{"c-0", 1}});
    f.later();
    load(Since::any);
    f.caller.answer();
    f.caller.answer();
    assert_true(f.state() == State::configuring);
    f.slurm.configure(1, {{"c-1", 1}});
    load(Since::any);
    f.slurm.start(1, {{"c-1", 1}});
    f.later();
    load(Since::now);
    load(Since::now);
    f.caller.answer();
    assert_true(f.state() == State::configuring);
    f.caller.answer();
    assert_true(f.state() == State::running);
    const int before = f.slurm.single_loads + f.slurm.loads;
    f.caller.answer();
    assert_int_equal(f.slurm.single_loads + f.slurm.loads, before);
  }
}

void slow_lists_are_asked_for_less_often(void**) {
  const struct {
    int list_time;  // all in milliseconds
    bool is_new;
    int pace;
  } cases[] = {
      {0, false, 1000},  {50, false, 1000}, {51, false, 1020},   {500, false, 10000},
      {250, true, 1000}, {500, true, 2000}, {3000, true, 12000},
  };
  for (const auto& c : cases) {
    assert_true(position_pace(milliseconds(c.list_time), c.is_new) == milliseconds(c.pace));
  }
}

void lists_of_all_jobs_take_a_twentieth_of_the_time(void**) {
  const struct {
    int list_time, pace;  // milliseconds
  } cases[] = {{0, 3000}, {150, 3000}, {151, 3020}, {1500, 30000}, {9000, 30000}};
  for (const auto& c : cases) assert_true(list_pace(milliseconds(c.list_time)) == milliseconds(c.pace));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(an_older_answer_takes_no_start_back),
      SLURMK8S_TEST(a_change_while_an_answer_is_on_its_way_is_asked_for),
      SLURMK8S_TEST(a_later_answer_counts),
      SLURMK8S_TEST(a_start_can_be_lost),
      SLURMK8S_TEST(an_end_is_known_without_a_call),
      SLURMK8S_TEST(a_job_without_nodes_is_not_noted),
      SLURMK8S_TEST(what_a_list_waits_for_is_not_its_time),
      SLURMK8S_TEST(slow_lists_are_asked_for_less_often),
      SLURMK8S_TEST(lists_of_all_jobs_take_a_twentieth_of_the_time),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
