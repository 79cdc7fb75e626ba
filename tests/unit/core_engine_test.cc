// SPDX-License-Identifier: GPL-2.0-or-later
// The engine on a Kubernetes and a Slurm in memory: requests, watches, answers and faults in every order.
#include <string>

#include "base/timers.hpp"
#include "core/engine.hpp"
#include "core/names.hpp"
#include "core/worker.hpp"
#include "kube/fake_client.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;
using kube::FakeClient;
using kube::kNodeSets;
using kube::kPods;
using kube::Verb;

namespace {

constexpr const char* kNamespace = "slurm";

/** Calls FakeSlurm, and answers when the test's loop comes to it. */
class FakeReporter final : public Reporter {
 public:
  FakeReporter(Slurm& slurm, Timers& timers) : slurm_(slurm), timers_(timers) {}
  void load_nodes(OnNodes done) override {
    timers_.after({}, [this, done] { done(slurm_.load_nodes()); });
  }
  void fail_node(const std::string& node, const std::string& reason, bool vanished, OnVerdict done) override {
    timers_.after({}, [=, this] { done(slurmk8s::fail_node(slurm_, node, reason, vanished)); });
  }

 private:
  Slurm& slurm_;
  Timers& timers_;
};

struct World {
  FakeClock clock;
  Timers timers{clock};
  FakeClient api;
  FakeSlurm slurm;
  FakeReporter reporter{slurm, timers};
  Options options;
  std::unique_ptr<Engine> engine;

  World() {
    options.name_space = kNamespace;
    put_nodeset("compute", 8);
  }

  void put_nodeset(const char* name, int replicas) {
    auto object = Json::parse(R"({"apiVersion":"slurm-k8s.io/v1alpha1","kind":"NodeSet","spec":{"slurmd":
        {"image":"slurmd:1","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}}})");
    Json nodeset = *object;
    nodeset.set("metadata", Json::object().set("name", name).set("namespace", kNamespace));
    Json spec = nodeset["spec"];
    spec.set("replicas", Json::integer(replicas));
    api.put(kNodeSets, kNamespace, nodeset);
  }

  void start() {
    engine = std::make_unique<Engine>(Engine::Parts{api, timers, clock, reporter, options});
    engine->start();
    settle();
  }

  /** Everything that is due, until nothing is. */
  void settle() {
    for (int i = 0; i < 100; ++i) {
      const std::size_t delivered = api.deliver();
      const auto next = timers.until_next();
      if (delivered == 0 && (!next || next->count() > 0)) return;
      timers.run_due();
    }
  }
  void pass(std::chrono::milliseconds time) {
    // In small steps, so that what each timer starts is answered before the next one is due.
    for (auto left = time; left.count() > 0; left -= std::chrono::milliseconds(100)) {
      clock.advance(std::chrono::milliseconds(100));
      settle();
    }
  }

  void resume(const char* id, std::vector<std::string> nodes) {
    for (const std::string& name : nodes) {
      SlurmNode& node = slurm.node(name);
      node.powered_down = node.powering_down = false;
      node.powering_up = node.not_responding = true;
      node.base = SlurmNode::Base::allocated;
    }
    ResumeRequest request;
    request.id = id;
    request.nodes = std::move(nodes);
    engine->resume(request);
    settle();
  }
  void registered(const char* name) {
    SlurmNode& node = slurm.node(name);
    node.powering_up = node.not_responding = false;
    node.boot_time = clock.wall();
  }
  std::string pods() const { return compress_hostlist(api.names(kPods, kNamespace)); }
  std::string request_of(const char* pod) const {
    return std::string(api.find(kPods, kNamespace, pod).at({"metadata", "annotations", kAnnotationRequest}).text());
  }
  std::string uid_of(const char* pod) const {
    return std::string(api.find(kPods, kNamespace, pod).at({"metadata", "uid"}).text());
  }
  void put_pod(const char* name, const char* request, const char* phase = "Running") {
    Json labels = Json::object().set(kLabelNode, name);
    Json annotations = Json::object().set(kAnnotationRequest, request);
    Json metadata = Json::object();
    metadata.set("name", name).set("labels", labels).set("annotations", annotations);
    Json pod = Json::object();
    pod.set("metadata", metadata).set("status", Json::object().set("phase", phase));
    api.put(kPods, kNamespace, pod);
  }
};

int set_up(void** state) {
  *state = new World;
  return 0;
}
int tear_down(void** state) {
  delete static_cast<World*>(*state);
  return 0;
}
World& world_of(void** state) { return *static_cast<World*>(*state); }

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
  assert_true(world.api.calls.back().uid.size() > 0);
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

void an_older_pod_that_the_watch_has_not_shown(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.end_watches(Status());
  world.put_pod("compute-0", "r0");
  world.resume("r1", {"compute-0"});  // 409, look, delete, create
  assert_text(world.request_of("compute-0"), "r1");
}

void a_create_whose_answer_was_lost(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.lose_answers(Verb::create, Error(Errc::timeout, "no answer"));
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(2));
  assert_text(world.request_of("compute-0"), "r1");
  assert_int_equal(world.api.count(Verb::remove), 0);
}

void nothing_before_the_comparison(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r0");
  world.slurm.node("compute-0");  // powered down: its pod is older than Slurm's state
  world.start();
  assert_text(world.pods(), "");
}

void a_resume_lost_with_slurmctld(void** state) {
  World& world = world_of(state);
  SlurmNode& node = world.slurm.node("compute-2");
  node.powered_down = false;
  node.powering_up = node.not_responding = true;
  world.start();
  assert_text(world.pods(), "compute-2");
}

void pods_of_running_nodes_are_kept_over_a_restart(void** state) {
  World& world = world_of(state);
  world.put_pod("compute-0", "r0");
  world.slurm.node("compute-0").powered_down = false;
  world.registered("compute-0");
  world.start();
  world.pass(std::chrono::seconds(70));
  assert_text(world.request_of("compute-0"), "r0");
  assert_int_equal(world.api.count(Verb::remove), 0);
  assert_int_equal(world.slurm.calls.size(), 0);
}

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

void nodes_that_no_nodeset_owns(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"stray-0", "login"});
  world.pass(kOwnerGrace + std::chrono::seconds(1));
  assert_int_equal(world.slurm.calls.size(), 4);
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

void a_nodeset_may_come_after_the_resume(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"late-0"});
  world.put_nodeset("late", 1);
  world.pass(kOwnerGrace + std::chrono::seconds(1));
  assert_text(world.pods(), "late-0");
  assert_int_equal(world.slurm.calls.size(), 0);
}

void faults_are_waited_out(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 4);
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "compute-0");
  world.api.fail_next(Verb::remove, Error(Errc::internal, "etcd"), 1);
  world.api.fail_next(Verb::remove, Error(Errc::unavailable, "etcd"), 3);
  world.engine->suspend({"compute-0"});
  world.pass(std::chrono::seconds(15));
  assert_text(world.pods(), "");
}

void throttling_pauses_all_requests(void** state) {
  World& world = world_of(state);
  world.start();
  world.options.max_requests = 1;
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::seconds(3)));
  world.resume("r1", {"compute-0"});
  world.resume("r2", {"compute-1"});
  const std::size_t during = world.api.count(Verb::create);
  world.pass(std::chrono::seconds(5));
  assert_int_equal(during, 1);
  assert_text(world.pods(), "compute-[0-1]");
}

void requests_in_flight_are_bounded(void** state) {
  World& world = world_of(state);
  world.put_nodeset("big", 1000);
  world.options.max_requests = 4;
  world.start();
  std::vector<std::string> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back("big-" + std::to_string(i));
  ResumeRequest request;
  request.id = "r1";
  request.nodes = nodes;
  world.engine->resume(request);
  int most = 0;
  do most = std::max(most, world.engine->in_flight());
  while (world.api.step());
  world.settle();
  assert_int_equal(most, 4);
  assert_text(world.pods(), "big-[0-999]");
  assert_true(world.engine->settled(nodes));
}

void a_silent_slurmctld_does_not_hold_resumes_back(void** state) {
  World& world = world_of(state);
  world.slurm.fail_loads = true;
  for (int i = 0; i < 100; ++i) world.slurm.failures.push_back(Error(Errc::timeout, "no answer"));
  world.start();
  world.resume("r1", {"compute-0"});
  const std::string before = world.pods();
  world.pass(std::chrono::seconds(11));
  assert_text(before, "");
  assert_text(world.pods(), "compute-0");
}

void suspended_while_it_is_being_made(void** state) {
  World& world = world_of(state);
  world.start();
  ResumeRequest request;
  request.id = "r1";
  request.nodes = {"compute-0"};
  world.engine->resume(request);            // the POST is under way
  world.engine->suspend({"compute-0"});
  world.settle();
  assert_text(world.pods(), "");
}

void control_messages(void** state) {
  World& world = world_of(state);
  world.start();
  const auto answer = [&](const char* text) { return handle_control(*world.engine, *Json::parse(text)); };
  assert_true(answer(R"({"op":"resume","id":"r1","nodes":"compute-[0-1]"})")["ok"].boolean_or(false));
  world.settle();
  assert_text(world.pods(), "compute-[0-1]");
  const Json status = answer(R"({"op":"status"})");
  assert_true(status["ready"].boolean_or(false));
  assert_int_equal(status["pods"].integer_or(-1), 2);
  assert_int_equal(status["pods_created"].integer_or(-1), 2);
  assert_contains(answer(R"({"op":"reboot"})")["error"].text(), "op:");
  assert_contains(answer("[]")["error"].text(), "op:");
}

}  // namespace

#define ENGINE_TEST(fn) SLURMK8S_TEST_WITH(fn, set_up, tear_down)

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(resume_and_suspend),
      ENGINE_TEST(a_request_is_idempotent),
      ENGINE_TEST(an_older_pod_is_replaced),
      ENGINE_TEST(an_older_pod_that_the_watch_has_not_shown),
      ENGINE_TEST(a_create_whose_answer_was_lost),
      ENGINE_TEST(nothing_before_the_comparison),
      ENGINE_TEST(a_resume_lost_with_slurmctld),
      ENGINE_TEST(pods_of_running_nodes_are_kept_over_a_restart),
      ENGINE_TEST(a_pod_deleted_under_a_node_in_use),
      ENGINE_TEST(a_pod_that_ended_under_a_node_in_use),
      ENGINE_TEST(a_pod_deleted_before_slurmd_registered),
      ENGINE_TEST(a_refused_pod_has_its_cause_in_slurm),
      ENGINE_TEST(nodes_that_no_nodeset_owns),
      ENGINE_TEST(a_job_that_was_there_before_the_scale_in_gets_its_node),
      ENGINE_TEST(a_nodeset_may_come_after_the_resume),
      ENGINE_TEST(faults_are_waited_out),
      ENGINE_TEST(throttling_pauses_all_requests),
      ENGINE_TEST(requests_in_flight_are_bounded),
      ENGINE_TEST(a_silent_slurmctld_does_not_hold_resumes_back),
      ENGINE_TEST(suspended_while_it_is_being_made),
      ENGINE_TEST(control_messages),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
