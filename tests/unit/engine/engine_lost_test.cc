// SPDX-License-Identifier: GPL-2.0-or-later
// The engine and nodes that are lost or don't come up, and pods that don't go: what Slurm is told, and when nodes serve
// again.
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

/** Job 7 runs on the node, and is requeued when slurmctld is told that the node is lost. */
void run_job_7(World& world, const char* node) {
  const std::time_t now = std::chrono::system_clock::to_time_t(world.clock.wall());
  world.slurm.runs = {{7, 0, 0, now - 60, node}};
  SlurmJob& job = world.slurm.jobs[7];
  job.id = 7;
  job.pending = true;
  job.restarts = 1;
  job.submitted = now;
  job.begin = now + 31;
}

void the_job_of_a_lost_node_begins_again(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  run_job_7(world, "compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::milliseconds(1500));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0\nbegin 7");
  assert_int_equal(world.scheduler_woken, 1);
  assert_text(world.pods(), "");
}

void an_error_after_the_requeue_does_not_cost_slurms_delay(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  run_job_7(world, "compute-0");
  world.slurm.failures = {Error(Errc::timeout, "of the answer to DOWN")};
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::milliseconds(100));
  world.slurm.runs.clear();  // it is requeued
  world.pass(std::chrono::milliseconds(2500));
  assert_int_equal(std::count(world.slurm.calls.begin(), world.slurm.calls.end(), "begin 7"), 1);
}

void the_job_of_a_lost_node_keeps_slurms_delay(void** state) {
  World& world = world_of(state);
  world.options.fast_requeue = false;
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  run_job_7(world, "compute-0");
  world.put_pod("compute-0", "r1", "Failed");
  world.settle();
  assert_int_equal(world.slurm.calls.size(), 2);  // at once
  world.pass(std::chrono::milliseconds(1500));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod ended: Failed\npower_down compute-0");
  assert_text(world.pods(), "");  // what is left of it goes too
}

void a_pod_deleted_before_slurmd_registered(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  const std::string before = world.uid_of("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.settle();
  assert_int_equal(world.slurm.calls.size(), 0);
  assert_text(world.pods(), "compute-0");
  assert_true(world.uid_of("compute-0") != before);
  assert_int_equal(world.engine->metrics().failed_nodes(), 0);  // it was not set DOWN
}

void a_node_that_can_not_start_backs_off(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r1", {"compute-0", "compute-1"}, 12);
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod: create: exceeded quota");
  assert_text(world.slurm.comments[12], "slurm-k8s: node compute-0: pod: create: exceeded quota");
  assert_text(world.pods(), "compute-1");
  world.pass(std::chrono::seconds(9));
  assert_int_equal(world.slurm.calls.size(), 1);
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.calls.back(), "power_down compute-0");
}

void a_slurmd_that_ends_beside_another_container_is_lost(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.hinder("compute-0", R"({"phase":"Running","containerStatuses":[
      {"name":"slurmd","state":{"terminated":{"exitCode":139}}},{"name":"other","state":{"running":{}}}]})");
  world.settle();
  assert_text(joined(world.slurm.calls),
              "down compute-0 slurm-k8s: pod ended: slurmd ended with exit code 139\n"
              "power_down compute-0");
  assert_text(world.pods(), "");
}

/** The kubelet tells late of a container that runs by now: slurmctld, which has heard of its slurmd, knows better. */
void a_node_that_has_come_up_meanwhile_keeps_its_job(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"}, 7);
  world.hinder("compute-0", kNoImage);
  world.pass(std::chrono::seconds(2));
  world.registered("compute-0");
  world.slurm.calls.clear();
  world.pass(std::chrono::seconds(20));
  assert_text(joined(world.slurm.calls), "");
  assert_text(world.pods(), "compute-0");
  assert_int_equal(world.engine->metrics().failed_nodes(), 0);
  world.put_pod("compute-0", "r1", "Failed");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.calls.at(0), "down compute-0 slurm-k8s: pod ended: Failed");
}

// Not a fast image; and no comment but ours is changed.
void what_a_pod_waits_for_is_told(void** state) {
  World& world = world_of(state);
  world.start();
  world.slurm.jobs[13].admin_comment = "{\"account\":\"chemistry\"}";
  world.resume("r1", {"compute-0", "compute-1"}, 12);
  world.resume("r2", {"compute-2", "compute-3"}, 13);
  for (const char* pod : {"compute-0", "compute-1"}) world.hinder(pod, kUnschedulable);
  for (const char* pod : {"compute-2", "compute-3"}) world.hinder(pod, kCreating);
  world.pass(std::chrono::seconds(2));
  assert_text(joined(world.slurm.calls), "update compute-[0-1] slurm-k8s: waiting: unschedulable: no room");
  assert_text(world.slurm.comments[12], "slurm-k8s: waiting: compute-[0-1]: unschedulable: no room");
  for (const char* pod : {"compute-0", "compute-2"}) world.put_pod(pod, pod == std::string("compute-0") ? "r1" : "r2");
  world.pass(std::chrono::seconds(4));
  assert_text(world.slurm.node("compute-0").comment, "");
  assert_text(world.slurm.node("compute-1").comment, "slurm-k8s: waiting: unschedulable: no room");
  assert_text(world.slurm.calls.back(), "update compute-3 slurm-k8s: waiting: pulling images, creating containers");
  world.api.erase(kPods, kNamespace, "compute-2");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.jobs[13].admin_comment, "{\"account\":\"chemistry\"}");
}

void events_tell_of_a_nodeset(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r1", {"compute-0", "compute-1", "compute-2"}, 12);
  world.registered("compute-1");
  world.api.erase(kPods, kNamespace, "compute-1");
  world.pass(std::chrono::seconds(2));
  std::string all;
  for (const std::string& name : world.api.names(kube::kEvents, kNamespace)) {
    const Json event = world.api.find(kube::kEvents, kNamespace, name);
    assert_text(event.at({"regarding", "name"}).text(), "compute");
    all += std::string(event["type"].text()) + " " + std::string(event["reason"].text()) + " " +
           std::string(event["note"].text()) + "\n";
  }
  assert_contains(all, "Normal PowerUp compute-[0-2] (3): for job 12\n");
  assert_contains(all, "Warning PowerUpFailed compute-0 (1): pod: create: exceeded quota\n");
  assert_contains(all, "Warning NodeLost compute-1 (1): pod is gone\n");
  world.pass(std::chrono::seconds(30));
  assert_int_equal(world.api.names(kube::kEvents, kNamespace).size(), 3);
}

void an_unschedulable_pod_is_waited_for_as_long_as_the_nodeset_says(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, R"(,"unschedulableGracePeriodSeconds":60)");
  world.start();
  world.resume("r1", {"compute-0"});
  world.hinder("compute-0", kUnschedulable);
  world.pass(std::chrono::seconds(55));
  assert_text(world.pods(), "compute-0");
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "");
  assert_text(world.slurm.node("compute-0").reason, "slurm-k8s: unschedulable: no room");
}

/** slurmctld gives up nodes that are powering up: DOWN and powered down; ResumeFailProgram may reach us or not. */
void give_up(World& world, const char* name, bool tells) {
  SlurmNode& node = world.slurm.node(name);
  node.base = SlurmNode::Base::down;
  node.reason = "ResumeTimeout reached";
  node.powering_up = node.not_responding = false;
  node.powered_down = true;
  if (tells) world.engine->suspend({name});
  world.pass(std::chrono::seconds(45));
  finish_power_downs(world);
}

void a_nodeset_is_not_to_blame_for_an_api_server_that_is_away(void** state) {
  World& world = world_of(state);
  for (const char* node : {"compute-6", "compute-7"}) world.slurm.node(node);
  world.start();
  for (int i = 0; i < 6; ++i) {
    const std::string name = "compute-" + std::to_string(i);
    // At first pods are made, but it goes before the scheduler has seen them.
    if (i == 3) world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 100000);
    world.resume(name.c_str(), {name});
    if (i < 3) world.cut_watches(100000);
    world.pass(std::chrono::seconds(60));
    give_up(world, name.c_str(), i != 4);
  }
  for (int i = 0; i < 6; ++i) assert_text(world.slurm.calls.at(i), "power_down compute-" + std::to_string(i));
  assert_int_equal(world.slurm.calls.size(), 6);

  world.api.forgive();  // now pods are made, and their slurmds don't register
  for (const char* request : {"s1", "s2", "s3"}) {
    world.resume(request, {"compute-0"});
    world.pass(std::chrono::seconds(60));
    give_up(world, "compute-0", true);
    world.pass(std::chrono::seconds(60));
    finish_power_downs(world);
  }
  assert_contains(joined(world.slurm.calls), "drain compute-[1-7] slurm-k8s: protected: ResumeTimeout reached");
}

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
  world.pass(std::chrono::seconds(14));  // its grace period of 5 s, and 10 s
  assert_int_equal(world.slurm.calls.size(), 0);
  world.pass(std::chrono::seconds(3));
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

void a_job_on_a_node_whose_pod_does_not_go_is_requeued_in_seconds(void** state) {
  World& world = world_of(state);
  suspend_a_pod_that_stays(world);
  world.resume("r2", {"compute-0", "compute-1"}, 9);
  world.pass(std::chrono::seconds(8));
  assert_text(world.slurm.node("compute-0").comment, "slurm-k8s: waiting: pod still terminating");
  world.pass(std::chrono::seconds(8));
  const std::string calls = joined(world.slurm.calls);
  assert_contains(calls, std::string("down compute-0 ") + kNotDeleted + "\npower_down compute-0");
  assert_contains(world.slurm.comments[9], "node compute-0: pod still terminating");
  assert_int_equal(world.slurm.harmed.count("compute-1"), 0);
  assert_int_equal(world.posts(), 2);  // those of r1, and compute-1's
  carry_out_power_down(world, "compute-0");
  world.pass(std::chrono::seconds(15));
  assert_true(world.slurm.node("compute-0").draining);
  assert_int_equal(world.engine->gauges().backing_off_nodes, 0);
  assert_int_equal(world.engine->gauges().protected_nodesets, 0);
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

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(the_job_of_a_lost_node_begins_again),
      ENGINE_TEST(an_error_after_the_requeue_does_not_cost_slurms_delay),
      ENGINE_TEST(the_job_of_a_lost_node_keeps_slurms_delay),
      ENGINE_TEST(a_pod_deleted_before_slurmd_registered),
      ENGINE_TEST(a_node_that_can_not_start_backs_off),
      ENGINE_TEST(a_slurmd_that_ends_beside_another_container_is_lost),
      ENGINE_TEST(a_node_that_has_come_up_meanwhile_keeps_its_job),
      ENGINE_TEST(what_a_pod_waits_for_is_told),
      ENGINE_TEST(events_tell_of_a_nodeset),
      ENGINE_TEST(an_unschedulable_pod_is_waited_for_as_long_as_the_nodeset_says),
      ENGINE_TEST(a_nodeset_is_not_to_blame_for_an_api_server_that_is_away),
      ENGINE_TEST(a_pod_that_does_not_go_drains_its_node),
      ENGINE_TEST(a_job_on_a_node_whose_pod_does_not_go_is_requeued_in_seconds),
      ENGINE_TEST(a_running_job_outlives_a_silent_kubelet),
      ENGINE_TEST(a_restart_knows_nodes_whose_pods_did_not_go),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
