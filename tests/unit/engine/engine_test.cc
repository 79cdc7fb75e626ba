// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's requests: pods and claims made and deleted, the control socket, programs that come late.
#include "engine/worker.hpp"
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

void resume_and_suspend(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-3"});
  assert_text(world.pods(), "compute-[0,3]");
  assert_text(world.request_of("compute-3"), "r1");
  world.engine->suspend({"compute-0", "compute-7"});
  world.settle();
  assert_text(world.pods(), "compute-3");
  assert_int_equal(world.api.count(Verb::remove), 1);  // compute-7 had no pod
  assert_true(world.api.calls.back().options.uid.size() > 0);
}

void a_suspend_is_one_line_in_the_log(void** state) {
  World& world = world_of(state);
  world.start();
  logged.clear();
  world.engine->suspend({"compute-0", "compute-1", "compute-2", "compute-3"});
  assert_int_equal(logged.size(), 1);
  assert_text(logged[0], "suspend: 4 nodes: compute-[0-3]");
  std::vector<std::string> scattered;
  for (int i = 0; i < 4000; i += 2) scattered.push_back("compute-" + std::to_string(i));
  world.engine->suspend(scattered);
  assert_contains(logged.back(), "suspend: 2000 nodes: compute-[0,2,");
  assert_true(logged.back().size() < 300);
}

constexpr const char* kClaims =
    R"(,"volumeClaimTemplates":[{"metadata":{"name":"scratch"},"spec":{"resources":{"requests":{"storage":"1Gi"}}}}])";

void a_node_keeps_its_claim(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.resume("r1", {"compute-0"});
  assert_text(world.api.names(kube::kVolumeClaims, kNamespace).at(0), "scratch-compute-0");
  assert_text(world.pods(), "compute-0");
  const std::string uid(
      world.api.find(kube::kVolumeClaims, kNamespace, "scratch-compute-0").at({"metadata", "uid"}).text());
  world.registered("compute-0");
  world.suspend("compute-0");
  assert_text(world.pods(), "");
  world.resume("r2", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r2");
  assert_text(world.api.find(kube::kVolumeClaims, kNamespace, "scratch-compute-0").at({"metadata", "uid"}).text(), uid);
}

void a_claim_that_is_refused_is_the_reason(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::forbidden, "exceeded quota: storage"));
  world.resume("r1", {"compute-0"});
  assert_text(world.pods(), "");
  assert_contains(joined(world.slurm.calls), "pod: create: claim scratch-compute-0: exceeded quota: storage");
}

void a_claim_that_is_going_is_waited_for(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.api.put(
      kube::kVolumeClaims, kNamespace,
      *Json::parse(R"({"metadata":{"name":"scratch-compute-0","deletionTimestamp":"2026-01-01T00:00:00Z"}})"));
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(2));
  assert_text(world.pods(), "");
  world.api.erase(kube::kVolumeClaims, kNamespace, "scratch-compute-0");
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "compute-0");
}

void a_suspend_while_claims_are_made(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, kClaims);
  world.start();
  world.ask_up("r1", {"compute-0"});
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_int_equal(world.posts(), 0);
  assert_true(world.engine->settled({"compute-0"}));
}

void a_request_is_idempotent(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.resume("r1", {"compute-0"});
  assert_int_equal(world.api.count(Verb::create), 1);
  world.engine->suspend({"compute-0"});
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_int_equal(world.api.count(Verb::remove), 1);
}

void an_older_pod_is_replaced(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");  // a node that was up before, as Slurm's saved state doesn't know
  world.settle();
  const std::string before = world.uid_of("compute-0");
  world.resume("r1", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r1");
  assert_true(world.uid_of("compute-0") != before);
}

// Its slurmd came up after the request, when the API server was away for longer than ResumeTimeout: a job runs there.
void an_older_pod_that_serves_stays(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");
  world.settle();
  const std::string pod = world.uid_of("compute-0");
  world.ask_up("r1", {"compute-0"});
  world.slurm.node("compute-0").powered_down = false;
  world.slurm.node("compute-0").base = SlurmNode::Base::allocated;
  world.registered("compute-0");
  world.pass(std::chrono::seconds(40));
  assert_text(world.uid_of("compute-0"), pod);
  assert_int_equal(world.api.count(Verb::remove), 0);

  world.api.erase(kPods, kNamespace, "compute-0");  // it is this request's pod now: its loss is one
  world.pass(std::chrono::seconds(2));
  assert_contains(joined(world.slurm.calls), "down compute-0");
}

void a_silent_slurmctld_keeps_an_older_pod(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-0", "r0");
  world.settle();
  world.slurm.fail_loads = true;
  world.slurm.failures.push_back(Error(Errc::timeout, "slurmctld: no answer"));
  world.resume("r1", {"compute-0"});
  assert_text(world.request_of("compute-0"), "r0");
  world.pass(std::chrono::seconds(2));
  assert_text(world.request_of("compute-0"), "r1");
}

void an_older_pod_that_the_watch_has_not_shown(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.end_watches(Status());
  world.put_pod("compute-0", "r0");
  world.resume("r1", {"compute-0"});  // 409, look, delete, create
  assert_text(world.request_of("compute-0"), "r1");
}

void a_daemon_sets_node_is_made_on_its_machine(void** state) {
  World& world = world_of(state);
  world.put_nodeset("gpu", 1, R"(,"scalingMode":"DaemonSet")");
  world.start();
  world.resume("r1", {"gpu-m1--x", "compute-1"});
  const Json pod = world.api.find(kPods, kNamespace, "gpu-m1--x");
  assert_text(pod.at({"metadata", "labels", "slurm-k8s.io/nodeset"}).text(), "gpu");
  assert_contains(pod.at({"spec", "affinity"}).dump(), R"("values":["m1.x"])");
  assert_true(world.api.find(kPods, kNamespace, "compute-1").at({"spec", "affinity"}).is_null());
}

void a_suspend_ends_when_the_pods_are_gone(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0", "compute-1"});
  for (const char* name : {"compute-0", "compute-1", "compute-2"}) {
    SlurmNode& node = world.slurm.node(name);
    node.base = SlurmNode::Base::idle;
    node.powering_up = node.not_responding = node.powered_down = false;
    node.powering_down = true;
  }
  world.slurm.node("compute-1").draining = true;  // by an administrator: resuming would take that back
  world.engine->suspend({"compute-0", "compute-1", "compute-2"});
  world.pass(std::chrono::seconds(1));
  assert_text(joined(world.slurm.calls), "resume compute-[0,2]");
}

void a_mass_suspend_is_told_in_few_calls(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 200);
  world.start();
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("compute-" + std::to_string(i));
  world.resume("r1", names);
  world.api.slow_deletion = true;
  for (const std::string& name : names) world.registered(name.c_str());
  for (const std::string& name : names) world.suspend(name.c_str());
  const int loads = world.slurm.loads;
  for (const std::string& name : names) {  // 2 s
    world.api.erase(kPods, kNamespace, name);
    world.clock.advance(std::chrono::milliseconds(10));
    world.settle();
  }
  world.pass(std::chrono::milliseconds(600));
  assert_true(world.slurm.loads - loads <= 12);
  for (const std::string& name : names) assert_true(world.slurm.node(name).powered_down);

  // One node alone isn't kept waiting.
  world.pass(std::chrono::seconds(2));
  world.api.slow_deletion = false;
  world.resume("r2", {"compute-0"});
  world.registered("compute-0");
  world.suspend("compute-0");
  world.pass(std::chrono::milliseconds(100));
  assert_true(world.slurm.node("compute-0").powered_down);
}

void nodes_that_no_nodeset_owns(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"stray-0", "login"});
  world.pass(kOwnerGrace + std::chrono::seconds(1));
  assert_int_equal(world.slurm.calls.size(), 2);
  std::string all;
  for (const std::string& call : world.slurm.calls) all += call + "\n";
  assert_contains(all, "down stray-0 slurm-k8s: no nodeset in namespace slurm owns node stray-0");
  assert_contains(all, "down login slurm-k8s: no nodeset in namespace slurm owns node login");
  assert_int_equal(world.api.count(Verb::create), 0);
}

void a_job_that_was_there_before_the_scale_in_gets_its_node(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_nodeset("compute", 2);
  world.resume("r1", {"compute-1", "compute-7"});
  assert_text(world.pods(), "compute-[1,7]");
}

// A program that no longer waits for the engine, and does the work itself.

void begin_directly(World& world) {
  Engine::Parts parts{world.api, world.timers, world.clock, world.caller, world.options};
  parts.one_shot = true;
  world.engine = std::make_unique<Engine>(parts);
  world.engine->start();
  world.settle();
}

void a_program_deletes_the_pod_that_was_to_go(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r1");
  world.slurm.node("compute-0").powering_down = true;
  begin_directly(world);
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_text(world.pods(), "");
  assert_true(world.engine->settled({"compute-0"}));
}

void a_program_that_comes_late_deletes_no_pod_of_a_node_that_was_resumed(void** state) {
  World& world = world_of(state);
  for (const char* name : {"compute-0", "compute-1"}) world.put_pod(name, "r2");
  world.waited_for("compute-0");
  world.slurm.node("compute-1").powered_down = false;
  begin_directly(world);
  world.engine->suspend({"compute-0", "compute-1"});
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "compute-[0-1]");
  assert_true(world.engine->settled({"compute-0", "compute-1"}));
}

void what_hindered_a_pod_may_be_over(void** state) {
  World& world = world_of(state);
  world.put_nodeset("compute", 8, R"(,"unschedulableGracePeriodSeconds":30)");
  world.start();
  world.resume("r1", {"compute-0"});
  world.hinder("compute-0", kUnschedulable);
  world.settle();
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "away"), 100000);
  world.api.fail_next(Verb::list, Error(Errc::unavailable, "away"), 100000);
  world.api.fail_next(Verb::get, Error(Errc::unavailable, "away"), 5);
  world.api.end_watches(Error(Errc::unavailable, "away"));
  world.settle();
  world.put_pod("compute-0", "r1");  // a machine came; we are not told
  world.registered("compute-0");
  world.pass(std::chrono::seconds(70));
  assert_text(world.pods(), "compute-0");
  assert_int_equal(world.slurm.harmed.size(), 0);
  assert_text(world.slurm.node("compute-0").reason, "");
}

void a_suspend_that_suspend_timeout_has_ended(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.slow_deletion = true;
  world.suspend("compute-0");
  world.slurm.node("compute-0").powering_down = false;
  world.slurm.node("compute-0").powered_down = true;
  world.api.erase(kPods, kNamespace, "compute-0");
  world.pass(std::chrono::seconds(1));
  assert_int_equal(world.slurm.scheduled, 1);  // a job may wait for it
  assert_int_equal(world.slurm.calls.size(), 0);
}

// A job may wait for the nodes; but each look goes through slurmctld's whole queue.
void the_scheduler_looks_when_nodes_are_down(void** state) {
  World& world = world_of(state);
  world.start();
  for (const char* node : {"compute-0", "compute-1", "compute-2"}) world.resume(node, {node});
  for (const char* node : {"compute-0", "compute-1", "compute-2"}) world.registered(node);
  assert_int_equal(world.scheduler_woken, 0);
  world.suspend("compute-0");
  world.pass(std::chrono::milliseconds(300));
  assert_true(world.slurm.node("compute-0").powered_down);
  assert_int_equal(world.scheduler_woken, 1);
  world.suspend("compute-1");
  world.pass(std::chrono::seconds(1));
  assert_int_equal(world.scheduler_woken, 1);
  world.suspend("compute-2");
  world.pass(std::chrono::seconds(1));
  assert_int_equal(world.scheduler_woken, 2);
}

/** One that has just started may not have read its configuration yet. */
void slurmctld_is_woken_when_it_has_answered(void** state) {
  World& world = world_of(state);
  world.caller.late = true;
  world.start();
  int woken = 0;
  Worker::Host host;
  host.wake_power_save = [&] { ++woken; };
  const Json wake = *Json::parse(R"({"op":"wake"})");
  assert_true(handle_control(*world.engine, host, wake)["ok"].boolean_or(false));
  assert_int_equal(woken, 0);
  world.caller.arrive();
  world.settle();
  assert_true(handle_control(*world.engine, host, wake)["ok"].boolean_or(false));
  assert_int_equal(woken, 1);
}

/** The value of a metric in the answer to {"op":"status"}. */
Json metric(const Json& status, std::string_view name) {
  Json value;
  status["metrics"].each([&](const Json& one) {
    if (one["name"].text() == name) value = one["value"];
  });
  return value;
}

void control_messages(void** state) {
  World& world = world_of(state);
  world.start();
  int woken = 0;
  Worker::Host host;
  const auto answer = [&](const char* text) { return handle_control(*world.engine, host, *Json::parse(text)); };
  assert_true(answer(R"({"op":"wake"})")["ok"].boolean_or(false));  // a slurmctld that can't be woken
  host.wake_power_save = [&] { ++woken; };
  assert_true(answer(R"({"op":"wake"})")["ok"].boolean_or(false));
  assert_int_equal(woken, 1);
  assert_true(answer(R"({"op":"resume","id":"r1","nodes":"compute-[0-1]"})")["ok"].boolean_or(false));
  world.settle();
  assert_text(world.pods(), "compute-[0-1]");
  const Json status = answer(R"({"op":"status"})");
  assert_true(status["ready"].boolean_or(false));
  assert_int_equal(metric(status, "slurm_k8s_engine_pods")["pending"].integer_or(-1), 2);
  assert_int_equal(metric(status, "slurm_k8s_engine_pods_created_total").integer_or(-1), 2);
  assert_text(answer(R"({"op":"reboot"})")["error"].text(),
              "op: Unsupported value: \"reboot\": supported values: \"resume\", \"suspend\", \"wake\", \"status\"");
  assert_contains(answer(R"({"op":"wake up"})")["error"].text(), "op: Unsupported value: \"wake up\"");
  assert_contains(answer("[]")["error"].text(), "op: Unsupported value: \"\"");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(resume_and_suspend),
      ENGINE_TEST(a_suspend_is_one_line_in_the_log),
      ENGINE_TEST(a_node_keeps_its_claim),
      ENGINE_TEST(a_claim_that_is_refused_is_the_reason),
      ENGINE_TEST(a_claim_that_is_going_is_waited_for),
      ENGINE_TEST(a_suspend_while_claims_are_made),
      ENGINE_TEST(a_request_is_idempotent),
      ENGINE_TEST(an_older_pod_is_replaced),
      ENGINE_TEST(an_older_pod_that_serves_stays),
      ENGINE_TEST(a_silent_slurmctld_keeps_an_older_pod),
      ENGINE_TEST(an_older_pod_that_the_watch_has_not_shown),
      ENGINE_TEST(a_daemon_sets_node_is_made_on_its_machine),
      ENGINE_TEST(a_suspend_ends_when_the_pods_are_gone),
      ENGINE_TEST(a_mass_suspend_is_told_in_few_calls),
      ENGINE_TEST(nodes_that_no_nodeset_owns),
      ENGINE_TEST(a_job_that_was_there_before_the_scale_in_gets_its_node),
      ENGINE_TEST(a_program_deletes_the_pod_that_was_to_go),
      ENGINE_TEST(a_program_that_comes_late_deletes_no_pod_of_a_node_that_was_resumed),
      ENGINE_TEST(what_hindered_a_pod_may_be_over),
      ENGINE_TEST(a_suspend_that_suspend_timeout_has_ended),
      ENGINE_TEST(the_scheduler_looks_when_nodes_are_down),
      ENGINE_TEST(slurmctld_is_woken_when_it_has_answered),
      ENGINE_TEST(control_messages),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
