// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's looks at slurmctld's node records: after a start, after a lost request, when the clock was set.
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

/** The node's record as slurmctld's saved state has it when its slurmd had registered. */
SlurmNode& was_up(World& world, const char* name) {
  SlurmNode& node = world.slurm.node(name);
  node.powered_down = false;
  node.address = "10.1.2.3";
  return node;
}

void looks_are_close_together_after_a_start(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-0");
  world.start();
  const std::pair<int, int> looks[] = {{0, 1}, {2, 2}, {4, 3}, {8, 4}, {16, 5}, {32, 6}, {50, 6}, {62, 7}, {93, 8}};
  int now = 0;
  for (const auto& [second, count] : looks) {
    world.pass(std::chrono::seconds(second - now));
    now = second;
    assert_int_equal(world.slurm.loads, count);
  }
  assert_int_equal(world.slurm.scheduled, 1);
  assert_int_equal(world.slurm.calls.size(), 0);
}

// slurmctld may have been killed before it saved the end of a job.
void the_node_of_a_recovered_job_registers_once_more(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r1");
  was_up(world, "compute-0").base = SlurmNode::Base::allocated;
  const std::time_t now = std::chrono::system_clock::to_time_t(world.clock.wall());
  world.slurm.nodes_of_jobs = {"compute-0"};
  world.slurm.runs = {{7, 0, 0, now - 60, "compute-0", now - 60, "compute-0"}};
  world.start();
  world.pass(std::chrono::seconds(20));
  assert_text(joined(world.asked), "");
  world.pass(std::chrono::seconds(100));
  assert_text(joined(world.asked), "compute-0");
}

void a_state_older_than_the_suspend(void** state) {
  World& world = world_of(state);
  was_up(world, "compute-0");
  world.api.fail_next(Verb::get, Error(Errc::unavailable, "connection refused"), 3);
  world.start();
  assert_int_equal(world.slurm.calls.size(), 0);  // no loss before the API server has said so
  world.pass(std::chrono::seconds(16));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
  assert_int_equal(world.slurm.harmed.size(), 0);  // before a job got it
}

// The node's record was saved when its job got it, the job's record when it had ended.
void a_state_with_a_node_of_a_job_that_has_ended(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1"}) world.slurm.node(name).base = SlurmNode::Base::allocated;
  world.slurm.nodes_of_jobs = {"compute-[1-2]"};
  world.start();
  world.pass(std::chrono::seconds(8));
  assert_int_equal(world.slurm.calls.size(), 0);
  world.pass(std::chrono::seconds(40));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: allocated without a job\npower_down compute-0");
}

// One's pod ended, the other's is gone; their job may have ended on a third one.
void nodes_lost_while_slurmctld_was_away(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1"}) was_up(world, name).base = SlurmNode::Base::allocated;
  world.slurm.nodes_of_jobs = {"compute-[0-2]"};
  world.put_pod("compute-0", "r0", "Failed");
  world.ends_told_at = world.clock.now() + kEndsGrace;
  world.start();
  world.pass(std::chrono::seconds(16));
  assert_text(joined(world.slurm.calls), "");
  world.pass(std::chrono::seconds(2));
  const std::string calls = joined(world.slurm.calls);
  assert_true(calls.find("down compute-0 slurm-k8s: pod ended: Failed") != std::string::npos);
  assert_true(calls.find("down compute-1 slurm-k8s: pod is gone") != std::string::npos);
}

void records_that_are_nobodys_loss_are_left_alone(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-0").powered_down = false;  // just made
  SlurmNode& other = world.slurm.node("login");        // of no NodeSet
  other.powered_down = false;
  other.base = SlurmNode::Base::allocated;
  SlurmNode& machine = was_up(world, "compute-1");  // no pod is to be expected
  machine.cloud = false;
  machine.base = SlurmNode::Base::allocated;
  world.start();
  world.pass(std::chrono::seconds(70));
  assert_int_equal(world.slurm.calls.size(), 0);
  assert_int_equal(world.api.count(Verb::get), 0);
}

void a_resume_that_comes_late_does_not_end_its_job(void** state) {
  World& world = world_of(state);
  world.start();
  world.pass(std::chrono::seconds(100));
  world.waited_for("compute-2").base = SlurmNode::Base::allocated;  // and it doesn't reach us
  world.pass(std::chrono::seconds(36));
  assert_text(world.pods(), "compute-2");
  world.registered("compute-2");
  const std::string pod = world.uid_of("compute-2");
  world.ask_up("r1", {"compute-2"});
  world.pass(std::chrono::seconds(40));
  assert_text(world.uid_of("compute-2"), pod);
  assert_int_equal(world.api.count(Verb::remove), 0);
  world.resume("r2", {"compute-2"});  // and the next one is another
  assert_text(world.request_of("compute-2"), "r2");
}

void a_silent_slurmctld_does_not_hold_resumes_back(void** state) {
  World& world = world_of(state);
  world.waited_for("compute-2").base = SlurmNode::Base::allocated;
  world.slurm.fail_loads = true;
  for (int i = 0; i < 13; ++i) world.slurm.failures.push_back(Error(Errc::timeout, "no answer"));
  world.start();
  world.resume("r1", {"compute-0"});
  assert_text(world.pods(), "");
  world.pass(std::chrono::seconds(11));
  assert_text(world.pods(), "compute-0");
  world.pass(std::chrono::seconds(3));  // its first look infers resumes at once
  assert_text(world.pods(), "compute-[0,2]");
}

void a_restart_compares_before_it_acts(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1"}) world.put_pod(name, "r0");
  world.slurm.node("compute-1");  // powered down: its pod is older than Slurm's state
  world.slurm.node("compute-0").powered_down = false;
  world.registered("compute-0");
  world.start();
  world.pass(std::chrono::seconds(70));
  assert_text(world.pods(), "compute-0");
  assert_text(world.request_of("compute-0"), "r0");
  assert_int_equal(world.slurm.calls.size(), 0);
}

// Theirs was killed before it saved that. reconcile_test says which pods can be recreated.
void slurmds_that_registered_with_a_former_slurmctld(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-2", "compute-3", "compute-4", "compute-5"}) world.put_pod(name, "r0");
  for (const char* name : {"compute-0", "compute-1", "compute-2", "compute-3"}) {
    world.waited_for(name).base = SlurmNode::Base::allocated;
  }
  for (const char* name : {"compute-4", "compute-5"}) world.waited_for(name);
  // The first hasn't begun, since its second node is still to come; the other one may have.
  world.slurm.nodes_of_jobs = {"compute-[0-1]", "compute-[2-3]"};
  const std::string begun = world.uid_of("compute-2");
  const std::string first = world.uid_of("compute-0");
  world.start();
  // compute-5 was only slow: it registers between the look that finds it unregistered and the answer about jobs.
  world.slurm.on_load_jobs = [&world] { world.registered("compute-5"); };
  world.pass(std::chrono::seconds(25));
  assert_int_equal(world.api.count(Verb::remove), 0);
  world.pass(std::chrono::seconds(130));
  assert_text(world.pods(), "compute-[0-5]");
  assert_int_equal(world.api.count(Verb::remove), 2);  // once each: compute-0, compute-4
  assert_string_not_equal(world.uid_of("compute-0").c_str(), first.c_str());
  assert_text(world.request_of("compute-0"), "r0");
  assert_text(world.uid_of("compute-2"), begun);
  assert_int_equal(world.slurm.calls.size(), 0);
}

// Until slurmctld's clock is again what it was its timers stand still, and it takes no slurmd that it has asked for.
void a_clock_that_is_set_back(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"}, 7);
  world.registered("compute-0");
  world.resume("r2", {"compute-1", "compute-2"}, 8);
  world.slurm.begins = {{9, std::chrono::seconds(3600)}, {10, std::chrono::seconds(4000)}};  // 10: as its user wants
  world.clock.set_wall(std::chrono::seconds(-3600));
  world.slurm.failures.push_back(Error(Errc::timeout, "slurm: no answer"));
  world.pass(std::chrono::seconds(6));
  assert_int_equal(world.slurm.calls.size(), 1);
  world.pass(std::chrono::seconds(60));
  assert_int_equal(world.slurm.calls.size(), 6);
  assert_text(world.slurm.calls[1], "down compute-[1-2] slurm-k8s: slurmctld's clock was set back by 3600 s");
  assert_text(world.slurm.calls[2], "power_down compute-[1-2]");
  assert_text(world.slurm.calls[3], "begin 8");
  assert_text(world.slurm.calls[4], "begin 9");
  assert_text(world.slurm.calls[5], "restart");
}

void other_steps_of_the_clock(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  for (const int seconds : {3600, 3580, 7200}) {  // ahead, or back a little
    world.clock.set_wall(std::chrono::seconds(seconds));
    world.pass(std::chrono::seconds(10));
  }
  assert_int_equal(world.slurm.calls.size(), 0);
  world.registered("compute-0");
  world.clock.set_wall(std::chrono::seconds(3600));
  world.slurm.failures.push_back(Error(Errc::invalid, "slurm: before 23.11 only a restart does that"));
  world.pass(std::chrono::seconds(60));
  assert_int_equal(world.slurm.calls.size(), 1);
}

void a_restart_gives_nodes_back(void** state) {
  World& world = world_of(state);
  const auto down = [&](const char* name, const char* reason) -> SlurmNode& {
    SlurmNode& node = world.slurm.node(name);
    node.base = SlurmNode::Base::down;
    node.reason = reason;
    node.powered_down = false;
    return node;
  };
  down("compute-0", "slurm-k8s: exceeded quota");
  down("compute-1", "ResumeTimeout reached").powered_down = true;
  down("compute-2", "broken disk");
  SlurmNode& drained = world.slurm.node("compute-3");
  drained.draining = true;
  drained.reason = "slurm-k8s: protected: exceeded quota";
  SlurmNode& noted = world.slurm.node("compute-4");
  noted.comment = "slurm-k8s: waiting: unschedulable";
  world.start();
  world.pass(std::chrono::seconds(15));
  const std::string calls = joined(world.slurm.calls);
  assert_contains(calls, "power_down compute-[0-1]");
  assert_contains(calls, "undrain compute-3");
  assert_text(world.slurm.node("compute-2").reason, "broken disk");
  assert_true(world.slurm.node("compute-2").base == SlurmNode::Base::down);
  assert_text(noted.comment, "");
}

// Of an administrator who undrains a powered-down node, and powers it up.
void an_undrained_node_may_be_asked_up(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-1").not_responding = true;
  world.start();
  world.slurm.node("compute-5").not_responding = true;
  world.pass(std::chrono::seconds(9));
  assert_text(joined(world.slurm.calls), "");
  world.waited_for("compute-5");
  world.pass(std::chrono::seconds(50));
  assert_text(joined(world.slurm.calls), "power_down compute-1");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(looks_are_close_together_after_a_start),
      ENGINE_TEST(the_node_of_a_recovered_job_registers_once_more),
      ENGINE_TEST(a_state_older_than_the_suspend),
      ENGINE_TEST(a_state_with_a_node_of_a_job_that_has_ended),
      ENGINE_TEST(nodes_lost_while_slurmctld_was_away),
      ENGINE_TEST(records_that_are_nobodys_loss_are_left_alone),
      ENGINE_TEST(a_resume_that_comes_late_does_not_end_its_job),
      ENGINE_TEST(a_silent_slurmctld_does_not_hold_resumes_back),
      ENGINE_TEST(a_restart_compares_before_it_acts),
      ENGINE_TEST(slurmds_that_registered_with_a_former_slurmctld),
      ENGINE_TEST(an_undrained_node_may_be_asked_up),
      ENGINE_TEST(a_clock_that_is_set_back),
      ENGINE_TEST(other_steps_of_the_clock),
      ENGINE_TEST(a_restart_gives_nodes_back),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
