// SPDX-License-Identifier: GPL-2.0-or-later
// RecoveredJobs: which nodes are asked to register after a start of slurmctld, when, and that each is asked once.
#include "engine/recovered_jobs.hpp"

#include <algorithm>

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"
#include "support/timer_caller.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

constexpr std::time_t kStart = 1000;

SlurmRun batch_run(std::uint32_t id, const char* host, std::time_t started = kStart - 60, std::uint32_t restarts = 0) {
  return {id, 0, restarts, 500, host, started, host};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

void selects_what_began_before(void**) {
  const struct {
    const char* what;
    SlurmRun run;
    bool is_recovered;
  } rows[] = {
      {"a batch job that began before", batch_run(1, "c-0"), true},
      {"in the second of the start, so before slurmctld read its state", batch_run(1, "c-0", kStart), true},
      {"that slurmctld has begun itself", batch_run(1, "c-0", kStart + 1), false},
      {"no batch job, or one that is configured or suspended", batch_run(1, ""), false},
  };
  for (const auto& row : rows) {
    if (select_recovered({row.run}, kStart).empty() == row.is_recovered) fail_msg("%s", row.what);
  }
}

void waits_as_slurmctld_does(void**) {
  const struct {
    std::chrono::seconds batch_start, message, delay;
  } rows[] = {
      {10s, 10s, 23s}, {130s, 10s, 143s}, {10s, 5s, 18s}, {10s, 100s, 23s},  // MIN(DEFAULT_MSG_TIMEOUT, MessageTimeout)
  };
  for (const auto& row : rows) {
    SlurmConfig config;
    config.batch_start_timeout = row.batch_start;
    config.message_timeout = row.message;
    assert_int_equal(registration_delay(config).count(), row.delay.count());
  }
}

void plans_hosts_of_jobs_that_run_still(void**) {
  const struct {
    const char* what;
    std::vector<SlurmRun> recovered, runs;
    const char* hosts;
  } rows[] = {
      {"it runs", {batch_run(1, "c-0")}, {batch_run(1, "c-0")}, "c-0"},
      {"it has ended", {batch_run(1, "c-0")}, {batch_run(2, "c-0")}, ""},
      {"it was requeued and runs again", {batch_run(1, "c-0")}, {batch_run(1, "c-0", kStart + 5, 1)}, ""},
      {"it is suspended now", {batch_run(1, "c-0")}, {batch_run(1, "")}, ""},
      {"one that has begun since", {batch_run(1, "c-0")}, {batch_run(1, "c-0"), batch_run(2, "c-1")}, "c-0"},
      {"two on a node", {batch_run(1, "c-0"), batch_run(2, "c-0")}, {batch_run(1, "c-0"), batch_run(2, "c-0")}, "c-0"},
      {"none", {}, {batch_run(1, "c-0")}, ""},
  };
  for (const auto& row : rows) {
    if (joined(plan_registrations(row.recovered, row.runs)) != row.hosts) fail_msg("%s", row.what);
  }
}

void asks_only_where_there_is_a_slurmd(void**) {
  using Change = void (*)(SlurmNode & node);
  const struct {
    const char* what;
    Change change;
    bool can;
  } rows[] = {
      {"allocated", [](SlurmNode&) {}, true},
      {"mixed, drained", [](SlurmNode& node) { node.base = SlurmNode::Base::mixed, node.draining = true; }, true},
      {"not heard yet", [](SlurmNode& node) { node.base = SlurmNode::Base::unknown; }, true},
      {"does not respond", [](SlurmNode& node) { node.not_responding = true; }, true},
      {"to be powered down when the job is over", [](SlurmNode& node) { node.power_down_asked = true; }, true},
      {"powered down", [](SlurmNode& node) { node.powered_down = true; }, false},
      {"powering down", [](SlurmNode& node) { node.powering_down = true; }, false},
      {"powering up", [](SlurmNode& node) { node.powering_up = true; }, false},
      {"to be powered up", [](SlurmNode& node) { node.power_up_asked = true; }, false},
      {"rebooting", [](SlurmNode& node) { node.reboot_issued = true; }, false},
      {"DOWN", [](SlurmNode& node) { node.base = SlurmNode::Base::down; }, false},
      {"in error", [](SlurmNode& node) { node.base = SlurmNode::Base::error; }, false},
      {"FUTURE", [](SlurmNode& node) { node.base = SlurmNode::Base::future; }, false},
  };
  for (const auto& row : rows) {
    SlurmNode node;
    node.base = SlurmNode::Base::allocated;
    row.change(node);
    if (can_register(node) != row.can) fail_msg("%s", row.what);
  }
}

struct World {
  FakeClock clock;
  Timers timers{clock};
  FakeSlurm slurm;
  std::vector<std::string> asked;

  TimerCaller caller{timers, slurm};
  RecoveredJobs jobs{{caller, timers, clock, [](const std::string& node) { return node.starts_with("c-"); },
                      [this](const std::string& node) { asked.push_back(node); }}};

  World() { slurm.fail_loads = true; }
  /** A batch job that began before slurmctld did, on a node that is up. */
  void recover(std::uint32_t id, const std::string& host) {
    SlurmNode& node = slurm.node(host);
    node.base = SlurmNode::Base::allocated;
    node.powered_down = false;
    const std::time_t now = std::chrono::system_clock::to_time_t(clock.wall());
    slurm.runs.push_back(batch_run(id, host.c_str(), now - 60));
  }
  void pass(std::chrono::milliseconds time) {
    for (auto left = time; left.count() > 0; left -= 50ms) {
      clock.advance(50ms);
      timers.run_due();
    }
  }
};

void asks_when_slurmctld_can_judge_and_once(void**) {
  World world;
  world.recover(1, "c-0");
  world.recover(2, "login");  // of no NodeSet
  world.recover(3, "c-3");
  world.slurm.node("c-3").powered_down = true;
  world.jobs.start();
  world.pass(22s);
  assert_text(joined(world.asked), "");
  world.pass(3s);
  assert_text(joined(world.asked), "c-0");
  world.pass(3600s);
  assert_int_equal(world.asked.size(), 1);
  assert_false(world.timers.until_next().has_value());
  assert_int_equal(world.slurm.calls.size(), 0);  // nothing was changed
}

void nothing_is_asked_without_a_recovered_job(void**) {
  World world;
  world.jobs.start();
  world.pass(1s);
  world.recover(1, "c-0");
  world.pass(60s);
  assert_int_equal(world.asked.size(), 0);
  assert_int_equal(world.slurm.run_loads, 1);
}

void tries_again_when_slurmctld_is_away(void**) {
  World world;
  world.recover(1, "c-0");
  world.slurm.failures = {Error(Errc::unavailable, "x"), Error(Errc::timeout, "x")};
  world.jobs.start();
  world.pass(31s);
  assert_int_equal(world.asked.size(), 0);
  world.slurm.failures = {Error(Errc::timeout, "of the second look")};
  world.pass(10s);
  assert_text(joined(world.asked), "c-0");
}

void many_nodes_are_asked_in_turn(void**) {
  World world;
  for (std::uint32_t i = 0; i < 25; ++i) world.recover(i + 1, "c-" + std::to_string(i));
  world.jobs.start();
  world.pass(23500ms);
  assert_int_equal(world.asked.size(), 10);
  world.pass(1s);
  assert_int_equal(world.asked.size(), 20);
  world.slurm.node("c-9").powered_down = true;  // the last one, by name
  world.pass(1s);
  assert_int_equal(world.asked.size(), 24);
  const std::set<std::string> nodes(world.asked.begin(), world.asked.end());
  assert_int_equal(nodes.size(), 24);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(selects_what_began_before),
      SLURMK8S_TEST(waits_as_slurmctld_does),
      SLURMK8S_TEST(plans_hosts_of_jobs_that_run_still),
      SLURMK8S_TEST(asks_only_where_there_is_a_slurmd),
      SLURMK8S_TEST(asks_when_slurmctld_can_judge_and_once),
      SLURMK8S_TEST(nothing_is_asked_without_a_recovered_job),
      SLURMK8S_TEST(tries_again_when_slurmctld_is_away),
      SLURMK8S_TEST(many_nodes_are_asked_in_turn),
  };
  return cmocka_run_group_tests_name("engine_recovered_jobs", tests, nullptr, nullptr);
}
