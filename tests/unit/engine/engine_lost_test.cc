// SPDX-License-Identifier: GPL-2.0-or-later
// The engine and nodes that are lost or don't come up: what Slurm is told, and when they serve again.
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

void a_pod_deleted_under_a_node_in_use(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.settle();
  assert_int_equal(world.slurm.calls.size(), 2);
  assert_text(world.slurm.calls[0], "down compute-0 slurm-k8s: pod is gone");
  assert_text(world.slurm.calls[1], "power_down compute-0");
  assert_text(world.pods(), "");
}

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
  world.pass(std::chrono::milliseconds(1500));
  for (const std::string& call : world.slurm.calls) assert_false(call.starts_with("begin"));
}

void a_pod_that_ended_under_a_node_in_use(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.put_pod("compute-0", "r1", "Failed");
  world.settle();
  assert_contains(world.slurm.calls[0], "down compute-0 slurm-k8s: pod ended: Failed");
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
}

void a_refused_pod_has_its_cause_in_slurm(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota: pods=4"));
  world.resume("r1", {"compute-0", "compute-1"});
  assert_text(world.slurm.calls[0], "down compute-0 slurm-k8s: pod: create: exceeded quota: pods=4");
  assert_text(world.pods(), "compute-1");
}

void a_node_that_can_not_start_backs_off(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r1", {"compute-0"}, 12);
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod: create: exceeded quota");
  assert_text(world.slurm.comments[12], "slurm-k8s: node compute-0: pod: create: exceeded quota");
  world.pass(PowerUpHealth::kFirstBackOff - std::chrono::seconds(1));
  assert_int_equal(world.slurm.calls.size(), 1);
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.calls.back(), "power_down compute-0");
}

void an_administrators_comment_stays(void** state) {
  World& world = world_of(state);
  world.start();
  world.slurm.jobs[12].admin_comment = "{\"account\":\"chemistry\"}";
  world.resume("r1", {"compute-0", "compute-1"}, 12);
  for (const char* pod : {"compute-0", "compute-1"}) world.hinder(pod, kUnschedulable);
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.node("compute-0").comment, "slurm-k8s: waiting: unschedulable: no room");
  world.put_pod("compute-0", "r1");
  world.pass(std::chrono::seconds(2));
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.jobs[12].admin_comment, "{\"account\":\"chemistry\"}");
  assert_int_equal(world.slurm.comment_writes, 0);
}

void what_a_pod_waits_for_is_told(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"}, 12);
  for (const char* pod : {"compute-0", "compute-1"}) world.hinder(pod, kUnschedulable);
  world.pass(std::chrono::seconds(2));
  assert_text(joined(world.slurm.calls), "update compute-[0-1] slurm-k8s: waiting: unschedulable: no room");
  assert_text(world.slurm.comments[12], "slurm-k8s: waiting: compute-[0-1]: unschedulable: no room");
  world.put_pod("compute-0", "r1");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.node("compute-0").comment, "");
  assert_text(world.slurm.node("compute-1").comment, "slurm-k8s: waiting: unschedulable: no room");
}

// Each time slurmctld copies all records.
void what_thousands_of_pods_wait_for_is_told_less_often(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 3001);
  world.start();
  std::vector<std::string> nodes;
  for (int i = 0; i < 3000; ++i) nodes.push_back("compute-" + std::to_string(i));
  world.resume("r1", nodes);
  for (const std::string& node : nodes) world.hinder(node.c_str(), kUnschedulable);
  world.pass(std::chrono::seconds(2));
  assert_text(joined(world.slurm.calls), "update compute-[0-2999] slurm-k8s: waiting: unschedulable: no room");
  world.resume("r2", {"compute-3000"});
  world.hinder("compute-3000", kUnschedulable);
  world.pass(std::chrono::seconds(3));
  assert_text(world.slurm.node("compute-3000").comment, "");
  world.pass(std::chrono::seconds(2));
  assert_text(world.slurm.node("compute-3000").comment, "slurm-k8s: waiting: unschedulable: no room");
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

void a_slow_image_is_told_a_fast_one_not(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"});
  for (const char* pod : {"compute-0", "compute-1"}) world.hinder(pod, kCreating);
  world.pass(std::chrono::seconds(2));
  world.put_pod("compute-0", "r1");
  world.pass(std::chrono::seconds(4));
  assert_text(joined(world.slurm.calls), "update compute-1 slurm-k8s: waiting: images are pulled and containers made");
}

void an_image_that_can_not_be_pulled_fails_in_seconds(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"});
  world.hinder("compute-1", kNoImage);
  world.pass(kStartGrace + std::chrono::seconds(1));
  assert_contains(joined(world.slurm.calls), "down compute-1 slurm-k8s: ErrImagePull: not found");
  assert_text(world.pods(), "compute-0");
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

void a_daemon_set_is_protected_with_all_its_nodes(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 1, R"(,"scalingMode":"DaemonSet")");
  for (const char* node : {"gpu-a--x", "gpu-b", "gpu-7"}) world.slurm.node(node).features = "gpu";
  world.slurm.node("gpu-mine").features = "other";
  world.start();
  for (int i = 0; i < 3; ++i) {
    world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
    world.resume(("r" + std::to_string(i)).c_str(), {"gpu-m" + std::to_string(i)});
    if (i < 2) world.pass(std::chrono::seconds(6));
  }
  assert_text(world.slurm.calls.back(), "drain gpu-7,gpu-a--x,gpu-b slurm-k8s: protected: pod: create: exceeded quota");
}

void a_nodeset_that_fails_again_and_again_is_protected(void** state) {
  World& world = world_of(state);
  for (const char* node : {"compute-5", "compute-6"}) world.slurm.node(node);
  world.slurm.node("compute-7").draining = true;
  world.slurm.node("compute-7").reason = "an administrator's";
  world.start();
  for (int i = 0; i < 3; ++i) {
    world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
    world.resume(("r" + std::to_string(i)).c_str(), {"compute-" + std::to_string(i)});
    if (i < 2) world.pass(std::chrono::seconds(6));
  }
  assert_text(world.slurm.calls.back(), "drain compute-[5-6] slurm-k8s: protected: pod: create: exceeded quota");
  world.pass(std::chrono::seconds(45));
  assert_contains(joined(world.slurm.calls), "\nundrain compute-[5-6]");
  assert_true(world.slurm.node("compute-7").draining);
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
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 100000);
  const std::pair<const char*, bool> nodes[] = {
      {"compute-0", true}, {"compute-1", false}, {"compute-2", true}, {"compute-3", false}};
  for (const auto& [name, tells] : nodes) {
    world.resume(name, {name});
    world.pass(std::chrono::seconds(60));
    give_up(world, name, tells);
  }
  assert_text(joined(world.slurm.calls),
              "power_down compute-0\npower_down compute-1\npower_down compute-2\npower_down compute-3");
}

void a_nodeset_is_not_to_blame_for_a_pod_that_nobody_could_start(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-7");
  world.start();
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) {
    world.resume(name, {name});  // its pod is made, but the API server goes before the scheduler has seen it
    world.cut_watches(100000);
    world.pass(std::chrono::seconds(60));
    give_up(world, name, true);
  }
  assert_text(joined(world.slurm.calls), "power_down compute-0\npower_down compute-1\npower_down compute-2");
}

void nodes_whose_pods_never_register_are_their_nodesets_fault(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-7");
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 3);
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) {
    world.resume(name, {name});
    world.pass(std::chrono::seconds(60));
    give_up(world, name, true);
  }
  assert_contains(joined(world.slurm.calls), "compute-[0-1,7] slurm-k8s: protected: ResumeTimeout reached");
}

void an_excuse_is_for_one_attempt(void** state) {
  World& world = world_of(state);
  world.slurm.node("compute-7");
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 100000);
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(5));
  give_up(world, "compute-0", true);
  world.api.forgive();
  for (int i = 0; i < 3; ++i) {
    world.resume(("s" + std::to_string(i)).c_str(), {"compute-0"});
    world.pass(std::chrono::seconds(60));
    give_up(world, "compute-0", true);
    world.pass(std::chrono::seconds(60));
    finish_power_downs(world);
  }
  assert_contains(joined(world.slurm.calls), "drain compute-7 slurm-k8s: protected: ResumeTimeout reached");
}

void refused_until_an_administrator_mends_the_role(void** state) {
  World& world = world_of(state);
  world.start();
  for (const char* request : {"r1", "r2"}) {
    world.api.fail_next(Verb::create, Error(Errc::forbidden, "pods is forbidden: no role"));
    world.resume(request, {"compute-0"}, 12);
    assert_text(world.slurm.node("compute-0").reason, "slurm-k8s: pod: create: pods is forbidden: no role");
    assert_text(world.slurm.comments[12], "slurm-k8s: node compute-0: pod: create: pods is forbidden: no role");
    world.pass(std::chrono::seconds(25));
    assert_text(world.slurm.calls.back(), "power_down compute-0");
    finish_power_downs(world);
  }
  const std::size_t calls = world.slurm.calls.size();
  world.resume("r3", {"compute-0"}, 12);
  world.registered("compute-0");
  world.pass(std::chrono::seconds(40));
  assert_text(world.request_of("compute-0"), "r3");
  assert_int_equal(world.slurm.calls.size(), calls);
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota"));
  world.resume("r4", {"compute-1"});
  world.pass(PowerUpHealth::kFirstBackOff + std::chrono::seconds(1));  // a first failure again
  assert_text(world.slurm.calls.back(), "power_down compute-1");
}

// Reasons that slurmctld has appended to, or kept.

void a_node_that_resume_timeout_gave_up_serves_again_whatever_reason_it_had(void** state) {
  World& world = world_of(state);
  int i = 0;
  for (const bool keeps : {false, true}) {
    for (const char* reason : {"", "disk check", "slurm-k8s: kubernetes node m1 is cordoned", kReasonReleased}) {
      world.slurm.keeps_reasons = keeps;
      const std::string name = "compute-" + std::to_string(i++);
      world.slurm.node(name).reason = reason;
      world.slurm.set_down_itself(name, "ResumeTimeout reached");
    }
  }
  world.slurm.node("other").reason = "broken disk";
  world.slurm.node("other").base = SlurmNode::Base::down;
  world.start();
  world.pass(std::chrono::seconds(60));
  std::string calls;
  for (const std::string& call : world.slurm.calls) calls += call.starts_with("power_down") ? call + "\n" : "";
  assert_text(calls, "power_down compute-[0-7]\n");
}

void a_silent_node_is_no_failed_power_up(void** state) {
  World& world = world_of(state);
  for (const bool keeps : {false, true}) {
    world.slurm.keeps_reasons = keeps;
    SlurmNode& node = world.slurm.node(keeps ? "compute-0" : "compute-1");
    node.powered_down = false;
    node.reason = "slurm-k8s: kubernetes node m1 is not ready: x";
    world.put_pod(node.name.c_str(), "r1");
    world.slurm.set_down_itself(node.name, "Not responding");
  }
  world.start();
  world.pass(std::chrono::seconds(60));
  assert_text(joined(world.slurm.calls), "");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(a_pod_deleted_under_a_node_in_use),
      ENGINE_TEST(the_job_of_a_lost_node_begins_again),
      ENGINE_TEST(an_error_after_the_requeue_does_not_cost_slurms_delay),
      ENGINE_TEST(the_job_of_a_lost_node_keeps_slurms_delay),
      ENGINE_TEST(a_pod_that_ended_under_a_node_in_use),
      ENGINE_TEST(a_pod_deleted_before_slurmd_registered),
      ENGINE_TEST(a_refused_pod_has_its_cause_in_slurm),
      ENGINE_TEST(a_node_that_can_not_start_backs_off),
      ENGINE_TEST(an_administrators_comment_stays),
      ENGINE_TEST(what_a_pod_waits_for_is_told),
      ENGINE_TEST(what_thousands_of_pods_wait_for_is_told_less_often),
      ENGINE_TEST(events_tell_of_a_nodeset),
      ENGINE_TEST(a_slow_image_is_told_a_fast_one_not),
      ENGINE_TEST(an_image_that_can_not_be_pulled_fails_in_seconds),
      ENGINE_TEST(an_unschedulable_pod_is_waited_for_as_long_as_the_nodeset_says),
      ENGINE_TEST(a_daemon_set_is_protected_with_all_its_nodes),
      ENGINE_TEST(a_nodeset_that_fails_again_and_again_is_protected),
      ENGINE_TEST(a_nodeset_is_not_to_blame_for_an_api_server_that_is_away),
      ENGINE_TEST(a_nodeset_is_not_to_blame_for_a_pod_that_nobody_could_start),
      ENGINE_TEST(nodes_whose_pods_never_register_are_their_nodesets_fault),
      ENGINE_TEST(an_excuse_is_for_one_attempt),
      ENGINE_TEST(refused_until_an_administrator_mends_the_role),
      ENGINE_TEST(a_node_that_resume_timeout_gave_up_serves_again_whatever_reason_it_had),
      ENGINE_TEST(a_silent_node_is_no_failed_power_up),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
