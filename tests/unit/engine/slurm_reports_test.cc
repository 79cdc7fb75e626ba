// SPDX-License-Identifier: GPL-2.0-or-later
// SlurmReports: how long nodes back off, when a NodeSet is to blame, and in how few calls slurmctld is told of many.
#include "engine/slurm_reports.hpp"

#include "support/engine_world.hpp"

#undef fail  // SlurmReports has one

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

struct Reporter {
  FakeClock clock;
  Timers timers{clock};
  FakeSlurm slurm;
  FakeCaller caller{slurm, timers};
  std::map<std::string, std::string> waiting;  // by node
  int scheduler_woken = 0;
  SlurmReports reports{{caller, timers, clock, false,
                        [this](const std::string& node) {
                          return SlurmReports::Waiting{waiting[node], {}};
                        },
                        [](const std::string&) { return std::string("c"); }, [this] { ++scheduler_woken; }, false,
                        [] { return 1.0; }}};

  void pass(std::chrono::milliseconds time) {
    for (auto left = time; left.count() > 0; left -= 10ms) {
      clock.advance(10ms);
      timers.run_due();
    }
  }
  /** Its power-up fails for good. */
  void fail(const std::string& node) {
    SlurmNode& record = slurm.node(node);
    record.powered_down = false;
    record.powering_up = true;
    reports.fail({node, "no quota"}, [](const Result<Verdict>&) {});
    pass(50ms);
  }
  /** slurmctld has given it up, and a comparison sees that. */
  void time_out(const std::string& node) {
    slurm.set_down_itself(node, "ResumeTimeout reached");
    reports.repair_from_record(slurm.node(node), {.owned = true}, {});
  }
  /** Until slurmctld is told anything else. */
  std::chrono::milliseconds time_to_next_call() {
    const std::size_t calls = slurm.calls.size();
    const TimePoint before = clock.now();
    while (slurm.calls.size() == calls && clock.now() < before + 1h) pass(100ms);
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - before);
  }
  void make_nodes(
      int count, const std::function<void(SlurmNode&)>& make = [](SlurmNode&) {}) {
    for (int i = 0; i < count; ++i) make(slurm.node("c-" + std::to_string(i)));
  }
};

std::string node(int i) { return "c-" + std::to_string(i); }

void a_nodeset_that_fails_again_and_again_is_protected(void**) {
  Reporter world;
  for (const char* name : {"c-5", "c-6"}) world.slurm.node(name);
  for (int i = 0; i < 3; ++i) {
    world.fail(node(i));
    if (i < 2) world.pass(6s);
  }
  assert_int_equal(world.reports.backing_off_nodes(), 2);  // the first one's back-off is over
  assert_int_equal(world.reports.protected_nodesets(), 1);
  assert_text(world.slurm.calls.back(), "drain c-[5-6] slurm-k8s: protected: no quota");
  world.pass(41s);
  assert_contains(joined(world.slurm.calls), "\nundrain c-[5-6]\n");
  assert_int_equal(world.reports.backing_off_nodes() + world.reports.protected_nodesets(), 0);

  SlurmNode& up = world.slurm.node("c-5");
  up.powered_down = up.not_responding = false;
  world.reports.repair_from_record(up, {.owned = true}, world.clock.now());
  world.fail("c-6");
  assert_in_range(world.time_to_next_call().count(), 10000, 10300);  // a first failure again
  assert_text(world.slurm.calls.back(), "power_down c-6");
}

// Each comparison with Slurm's records sees a node that backs off.
void a_failure_counts_once_however_often_it_is_seen(void**) {
  Reporter world;
  world.make_nodes(2);
  world.fail("c-0");
  world.pass(6s);
  world.reports.repair_from_record(world.slurm.node("c-0"), {.owned = true}, {});
  assert_in_range(world.time_to_next_call().count(), 3900, 4300);
  assert_text(world.slurm.calls.back(), "power_down c-0");
  world.pass(6s);
  world.fail("c-1");
  assert_in_range(world.time_to_next_call().count(), 20000, 20300);  // the second one
}

void a_release_that_slurmctld_was_not_told_of_is_told_again(void**) {
  Reporter world;
  world.make_nodes(2);
  world.fail("c-0");
  world.slurm.failures.emplace_back(Errc::unavailable, "busy");
  world.pass(10200ms);
  assert_int_equal(world.reports.backing_off_nodes(), 1);
  world.reports.repair_from_record(world.slurm.node("c-0"), {.owned = true}, {});
  assert_in_range(world.time_to_next_call().count(), 1900, 2300);
  assert_text(world.slurm.calls.back(), "power_down c-0");
  assert_int_equal(world.reports.backing_off_nodes(), 0);
  world.fail("c-1");
  assert_in_range(world.time_to_next_call().count(), 20000, 20300);  // the second failure
}

// An API server that was away is asked less and less often, by the nodes that it kept from starting.
void an_excuse_is_for_one_attempt(void**) {
  Reporter world;
  world.make_nodes(3);
  for (const int seconds : {10, 20, 40}) {
    world.reports.resume_requested("c-0");
    world.reports.forgive_resume_timeout("c-0");
    world.time_out("c-0");
    assert_in_range(world.time_to_next_call().count(), seconds * 1000, seconds * 1000 + 300);
    world.slurm.node("c-0").base = SlurmNode::Base::idle;
  }
  assert_int_equal(world.reports.protected_nodesets(), 0);
  for (int i = 0; i < 3; ++i) {
    world.reports.resume_requested("c-0");
    world.time_out("c-0");
    world.pass(41s);
    world.slurm.node("c-0").base = SlurmNode::Base::idle;
  }
  assert_contains(joined(world.slurm.calls), "drain c-[1-2] slurm-k8s: protected: ResumeTimeout reached");
  // Once it has been up, the next excuse is a first one.
  SlurmNode& up = world.slurm.node("c-0");
  up.powered_down = up.power_down_asked = false;
  world.reports.repair_from_record(up, {.owned = true}, world.clock.now());
  world.reports.forgive_resume_timeout("c-0");
  world.time_out("c-0");
  assert_in_range(world.time_to_next_call().count(), 10000, 10300);
}

void a_restart_unprotects_a_nodeset_in_one_go(void**) {
  Reporter world;
  world.make_nodes(50, [](SlurmNode& record) {
    record.draining = true;
    record.reason = "slurm-k8s: protected: exceeded quota";
  });
  for (int i = 0; i < 50; ++i) world.reports.repair_from_record(world.slurm.node(node(i)), {.owned = true}, {});
  world.pass(500ms);
  assert_text(joined(world.slurm.calls), "undrain c-[0-49]");
  assert_int_equal(world.slurm.loads, 1);
}

// Each time slurmctld copies all records.
void a_mass_suspend_is_told_in_few_calls(void**) {
  Reporter world;
  world.make_nodes(201, [](SlurmNode& record) {
    record.powered_down = false;
    record.powering_down = true;
  });
  for (int i = 0; i < 200; ++i) {  // 2 s
    world.reports.pod_deleted(node(i));
    world.pass(10ms);
  }
  world.pass(600ms);
  assert_in_range(world.slurm.loads, 5, 12);
  for (int i = 0; i < 200; ++i) assert_true(world.slurm.node(node(i)).powered_down);
  world.pass(2s);
  world.reports.pod_deleted("c-200");  // one alone isn't kept waiting
  world.pass(60ms);
  assert_true(world.slurm.node("c-200").powered_down);
}

// A job may wait for the nodes; but each look goes through slurmctld's whole queue.
void the_scheduler_looks_once_a_second_at_most(void**) {
  Reporter world;
  world.make_nodes(3, [](SlurmNode& record) { record.powering_down = true; });
  const std::pair<int, int> suspends[] = {{0, 1}, {1, 1}, {2, 2}};
  for (const auto& [i, woken] : suspends) {
    world.reports.pod_deleted(node(i));
    world.pass(600ms);
    assert_int_equal(world.scheduler_woken, woken);
  }
}

void what_thousands_of_pods_wait_for_is_told_less_often(void**) {
  Reporter world;
  world.make_nodes(3001, [](SlurmNode& record) { record.powering_up = true; });
  for (int i = 0; i < 3000; ++i) {
    world.waiting[node(i)] = "no room";
    world.reports.refresh_comment(node(i));
  }
  world.pass(1100ms);
  assert_text(joined(world.slurm.calls), "update c-[0-2999] slurm-k8s: waiting: no room");
  world.waiting["c-3000"] = "no room";
  world.reports.refresh_comment("c-3000");
  world.pass(3900ms);
  assert_text(world.slurm.node("c-3000").comment, "");
  world.pass(200ms);
  assert_text(world.slurm.node("c-3000").comment, "slurm-k8s: waiting: no room");
}

// slurmctld has not begun to power it up, or is busy: a comparison sees what is missing.
void what_was_not_told_is_told_later(void**) {
  Reporter world;
  world.make_nodes(1);
  world.waiting["c-0"] = "no room";
  world.reports.refresh_comment("c-0");
  world.pass(1100ms);
  assert_text(world.slurm.node("c-0").comment, "");
  world.slurm.node("c-0").powering_up = true;
  world.slurm.failures.emplace_back(Errc::unavailable, "busy");
  for (const char* comment : {"", "slurm-k8s: waiting: no room"}) {
    world.reports.repair_from_record(world.slurm.node("c-0"), {.owned = true}, {});
    world.pass(1100ms);
    assert_text(world.slurm.node("c-0").comment, comment);
  }
  const std::size_t calls = world.slurm.calls.size();
  world.reports.repair_from_record(world.slurm.node("c-0"), {.owned = true}, {});
  world.pass(1100ms);
  assert_int_equal(world.slurm.calls.size(), calls);
}

void a_mass_of_pods_that_do_not_go_is_told_in_few_calls(void**) {
  Reporter world;
  world.make_nodes(500);
  int verdicts = 0;
  for (int i = 0; i < 500; ++i) {
    world.reports.stuck(node(i), {"still terminating", {}}, [&verdicts](const Result<StuckVerdict>& verdict) {
      verdicts += verdict && *verdict == StuckVerdict::drain;
    });
  }
  world.pass(200ms);
  assert_text(joined(world.slurm.calls), "drain c-[0-499] slurm-k8s: pod not deleted: still terminating");
  assert_int_equal(verdicts, 500);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_nodeset_that_fails_again_and_again_is_protected),
      SLURMK8S_TEST(a_failure_counts_once_however_often_it_is_seen),
      SLURMK8S_TEST(a_release_that_slurmctld_was_not_told_of_is_told_again),
      SLURMK8S_TEST(an_excuse_is_for_one_attempt),
      SLURMK8S_TEST(a_restart_unprotects_a_nodeset_in_one_go),
      SLURMK8S_TEST(a_mass_suspend_is_told_in_few_calls),
      SLURMK8S_TEST(the_scheduler_looks_once_a_second_at_most),
      SLURMK8S_TEST(what_thousands_of_pods_wait_for_is_told_less_often),
      SLURMK8S_TEST(what_was_not_told_is_told_later),
      SLURMK8S_TEST(a_mass_of_pods_that_do_not_go_is_told_in_few_calls),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
