// SPDX-License-Identifier: GPL-2.0-or-later
// The engine and pods that don't go: the machine is lost, or the object has a finalizer.
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

constexpr const char* kNotDeleted = "slurm-k8s: pod not deleted: still terminating";

/** compute-0 was up, and is suspended; its pod stays. */
void suspend_a_pod_that_stays(World& world) {
  world.start();
  world.resume("r1", {"compute-0"}, 7);
  world.registered("compute-0");
  world.api.slow_deletion = true;
  world.suspend("compute-0");
}

/** slurmctld carries out the power-downs that it was asked for, and tells us. */
void carry_out_power_down(World& world, const char* node) {
  world.slurm.pass_time();
  world.engine->suspend({node});
  world.settle();
}

void a_pod_that_does_not_go_drains_its_node(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(12));
  assert_text(world.slurm.calls[0], std::string("drain compute-0 ") + kNotDeleted);
  world.slurm.pass_time();  // SuspendTimeout
  world.pass(std::chrono::seconds(60));
  assert_int_equal(world.slurm.calls.size(), 2);
  assert_text(world.slurm.node("compute-0").comment, "slurm-k8s: waiting: pod still terminating");
  assert_true(world.slurm.node("compute-0").draining);

  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(2));
  carry_out_power_down(world, "compute-0");
  world.pass(std::chrono::seconds(2));
  const SlurmNode& node = world.slurm.node("compute-0");
  assert_true(node.powered_down && !node.draining && !node.not_responding && !node.going_down());
  assert_text(node.comment, "");
  assert_false(is_drain_reason(node.reason));
  world.resume("r2", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r2");
}

void a_pod_that_goes_before_suspend_timeout_frees_its_drained_node(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(12));
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(1));
  assert_true(world.slurm.node("compute-0").powered_down && !world.slurm.node("compute-0").draining);
  world.pass(std::chrono::seconds(31));
  carry_out_power_down(world, "compute-0");  // it was "not responding"
  world.pass(std::chrono::seconds(2));
  const SlurmNode& node = world.slurm.node("compute-0");
  assert_true(node.powered_down && !node.draining && !node.not_responding && !node.going_down());
}

void a_job_on_a_node_whose_pod_does_not_go_is_requeued_in_seconds(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.pass(std::chrono::seconds(7));
  world.resume("r2", {"compute-0", "compute-1"}, 9);
  world.pass(std::chrono::seconds(8));
  const std::string calls = joined(world.slurm.calls);
  assert_contains(calls, std::string("down compute-0 ") + kNotDeleted + "\npower_down compute-0");
  assert_contains(world.slurm.comments[9], "pod still terminating");
  assert_int_equal(world.slurm.harmed.count("compute-1"), 0);
  assert_int_equal(world.posts(), 2);  // those of r1, and compute-1's
  carry_out_power_down(world, "compute-0");
  world.pass(std::chrono::seconds(15));
  assert_true(world.slurm.node("compute-0").draining);
  assert_int_equal(world.engine->gauges().held_nodes, 0);
  assert_int_equal(world.engine->gauges().protected_nodesets, 0);
}

void what_a_former_pod_keeps_waiting_is_told(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.resume("r2", {"compute-0"}, 9);
  world.pass(std::chrono::seconds(8));
  assert_text(world.slurm.node("compute-0").comment, "slurm-k8s: waiting: pod still terminating");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(5));
  assert_text(world.request_of("compute-0"), "r2");
  assert_text(world.slurm.node("compute-0").comment, "");
  assert_int_equal(world.slurm.harmed.size(), 0);
}

void a_running_job_outlives_a_silent_kubelet(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"}, 7);
  world.registered("compute-0");
  Json pod = world.api.find(kPods, kNamespace, "compute-0").clone();
  Json metadata = pod["metadata"];
  metadata.set("deletionTimestamp", "2026-01-01T00:00:00Z");
  metadata.set("deletionGracePeriodSeconds", Json::integer(5));
  world.api.put(kPods, kNamespace, pod);  // evicted by a taint
  world.pass(std::chrono::seconds(60));
  assert_text(world.slurm.calls[0], std::string("drain compute-0 ") + kNotDeleted);
  assert_int_equal(world.slurm.harmed.size(), 0);
  world.slurm.node("compute-0").base = SlurmNode::Base::idle;  // its job was requeued
  world.slurm.set_down_itself("compute-0", "Not responding");
  world.pass(std::chrono::seconds(40));
  assert_contains(joined(world.slurm.calls), std::string("down compute-0 ") + kNotDeleted + "\npower_down compute-0");
  carry_out_power_down(world, "compute-0");
  world.pass(std::chrono::seconds(5));
  assert_true(world.slurm.node("compute-0").draining);
}

void a_watch_that_does_not_tell_of_the_end_drains_nothing(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.cut_watches(100000);
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(20));
  assert_text(joined(world.slurm.calls), "resume compute-0");
}

void a_restart_knows_nodes_whose_pods_did_not_go(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1"}) {
    world.slurm.node(name).draining = true;
    world.slurm.node(name).reason = kNotDeleted;
  }
  world.put_pod("compute-0", "r1");
  world.api.slow_deletion = true;
  world.start();
  world.pass(std::chrono::seconds(60));
  assert_text(joined(world.slurm.calls), std::string("power_down compute-1 ") + kReasonReleased +
                                             "\nupdate compute-0 slurm-k8s: waiting: pod still terminating");
  assert_true(world.slurm.node("compute-0").draining);
}

void a_mass_of_pods_that_do_not_go_is_told_in_few_calls(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 500);
  world.start();
  std::vector<std::string> nodes;
  for (int i = 0; i < 500; ++i) nodes.push_back("compute-" + std::to_string(i));
  world.resume("r1", nodes);
  for (const std::string& node : nodes) world.registered(node.c_str());
  world.api.slow_deletion = true;
  for (const std::string& node : nodes) {
    world.slurm.node(node).base = SlurmNode::Base::idle;
    world.slurm.node(node).powering_down = true;
  }
  world.engine->suspend(nodes);
  world.pass(std::chrono::seconds(20));
  int drains = 0;
  for (const std::string& call : world.slurm.calls) drains += call.starts_with("drain");
  assert_in_range(drains, 1, 5);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(a_pod_that_does_not_go_drains_its_node),
      ENGINE_TEST(a_pod_that_goes_before_suspend_timeout_frees_its_drained_node),
      ENGINE_TEST(a_job_on_a_node_whose_pod_does_not_go_is_requeued_in_seconds),
      ENGINE_TEST(what_a_former_pod_keeps_waiting_is_told),
      ENGINE_TEST(a_running_job_outlives_a_silent_kubelet),
      ENGINE_TEST(a_watch_that_does_not_tell_of_the_end_drains_nothing),
      ENGINE_TEST(a_restart_knows_nodes_whose_pods_did_not_go),
      ENGINE_TEST(a_mass_of_pods_that_do_not_go_is_told_in_few_calls),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
