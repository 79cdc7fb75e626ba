// SPDX-License-Identifier: GPL-2.0-or-later
// The engine and an API server that is away, throttles, or loses answers and events.
#include "support/engine_world.hpp"

using namespace slurmk8s;

namespace {

void faults_are_waited_out(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::unavailable, "connection refused"), 3);
  world.api.fail_next(Verb::create, Error(Errc::unauthorized, "Unauthorized"), 1);
  world.resume("r1", {"compute-0"});
  assert_text(world.pods(), "");
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "compute-0");
  world.api.fail_next(Verb::remove, Error(Errc::internal, "etcd"), 1);
  world.api.fail_next(Verb::remove, Error(Errc::unavailable, "etcd"), 3);
  world.suspend("compute-0");
  world.pass(std::chrono::seconds(15));
  assert_text(world.pods(), "");
  assert_text(joined(world.slurm.calls), "resume compute-0");
}

// Two creates that meet at one ResourceQuota: the node is not to blame.
void a_create_that_conflicts_is_tried_again(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::create, Error(Errc::conflict, "Operation cannot be fulfilled on resourcequotas"), 2);
  world.resume("r1", {"compute-0"});
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "compute-0");
  assert_int_equal(world.slurm.calls.size(), 0);
}

void throttling_makes_everything_wait_but_not_for_hours(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r0", {"compute-4"});
  world.registered("compute-4");
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::hours(6)));
  world.resume("r1", {"compute-0"});
  const std::size_t posts = world.posts();
  world.resume("r2", {"compute-1", "compute-2"});
  world.suspend("compute-4");
  assert_true(world.engine->gauges().paused);
  assert_int_equal(world.engine->metrics().api_pauses, 1);
  world.pass(std::chrono::seconds(59));
  assert_int_equal(world.posts(), posts);
  assert_int_equal(world.api.count(Verb::remove), 0);
  assert_int_equal(world.api.names(kube::kEvents, kNamespace).size(), 0);  // also compute-4's waits
  world.pass(std::chrono::seconds(3));
  assert_false(world.engine->gauges().paused);
  assert_text(world.pods(), "compute-[0-2]");
  std::string notes;
  for (const std::string& name : world.api.names(kube::kEvents, kNamespace)) {
    notes += std::string(world.api.find(kube::kEvents, kNamespace, name)["note"].text()) + "\n";
  }
  assert_contains(notes, "the API server takes no requests: next try in 60 s (Retry-After: 21600 s)");
}

// What follows from an answer, too: a pod after its claims, the removal of a former pod, an event.
void nothing_is_sent_during_a_pause(void** state) {
  World& world = world_of(state);
  world.put_nodeset("data", 2, R"(,"volumeClaimTemplates":[{"metadata":{"name":"scratch"},
      "spec":{"resources":{"requests":{"storage":"1Gi"}}}}])");
  world.start();
  world.put_pod("compute-1", "r0");
  world.settle();
  world.caller.late = true;
  world.resume("r1", {"compute-1"});  // slurmctld is asked about the pod of r0: it is to go
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::seconds(20)));
  world.resume("r2", {"compute-0", "data-0"});
  world.caller.arrive();
  world.settle();
  assert_true(world.engine->gauges().paused);
  assert_int_equal(world.engine->gauges().in_flight, 1);
  const std::size_t before = world.api.calls.size();
  world.pass(std::chrono::seconds(18));
  assert_int_equal(world.api.calls.size(), before);
  world.pass(std::chrono::seconds(10));
  assert_text(world.pods(), "compute-[0-1],data-0");
}

// slurmctld said before the pause that it waits for the node; meanwhile its slurmd has come, and a job with it.
void no_pod_is_deleted_for_an_old_answer(void** state) {
  World& world = world_of(state);
  world.start();
  world.put_pod("compute-1", "r0");
  world.settle();
  world.caller.late = true;
  world.resume("r1", {"compute-1"});
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::seconds(20)));
  world.resume("r2", {"compute-0"});
  world.caller.arrive();
  world.settle();
  assert_true(world.engine->gauges().paused);
  world.registered("compute-1");
  world.caller.late = false;
  world.pass(std::chrono::seconds(30));
  assert_text(world.pods(), "compute-[0-1]");
  assert_int_equal(world.api.count(Verb::remove), 0);
}

// An event begins a pause as well, and is told when it is over.
void a_refused_event_pauses_everything(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r0", {"compute-0"});
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::seconds(20)));
  world.pass(std::chrono::seconds(2));
  assert_true(world.engine->gauges().paused);
  assert_int_equal(world.engine->metrics().api_pauses, 1);
  const std::size_t posts = world.posts();
  world.resume("r1", {"compute-1"});
  world.pass(std::chrono::seconds(15));
  assert_int_equal(world.posts(), posts);
  assert_int_equal(world.api.names(kube::kEvents, kNamespace).size(), 0);
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "compute-[0-1]");
  const std::vector<std::string> events = world.api.names(kube::kEvents, kNamespace);
  assert_int_equal(events.size(), 1);
  assert_text(world.api.find(kube::kEvents, kNamespace, events[0])["note"].text(), "compute-[0-1] (2)");
}

void requests_in_flight_are_bounded(void** state) {
  World& world = world_of(state);
  world.put_nodeset("big", 1000);
  world.options.max_requests = 4;
  world.start();
  std::vector<std::string> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back("big-" + std::to_string(i));
  world.ask_up("r1", nodes);
  int most = 0;
  do most = std::max(most, static_cast<int>(world.engine->gauges().in_flight));
  while (world.api.step());
  world.settle();
  assert_int_equal(most, 4);
  assert_text(world.pods(), "big-[0-999]");
  assert_true(world.engine->settled(nodes));
}

// slurmctld hears of it at once, so that its jobs are requeued.
void a_lost_node_is_told_during_a_pause(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r0", {"compute-7"});
  world.registered("compute-7");
  world.slurm.node("compute-7").base = SlurmNode::Base::allocated;
  world.api.fail_next(Verb::create, Error(Errc::throttled, "too many", std::chrono::seconds(50)));
  world.resume("r1", {"compute-0"});
  world.resume("r2", {"compute-1", "compute-2"});
  assert_true(world.engine->gauges().paused);
  world.hinder("compute-7", R"({"phase":"Failed"})");
  world.pass(std::chrono::seconds(5));
  assert_true(world.engine->gauges().paused);
  assert_contains(joined(world.slurm.calls), "down compute-7 slurm-k8s: pod ended: Failed");
}

void a_delete_whose_answer_was_lost(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "cut"), 3);
  world.api.end_watches(Error(Errc::unavailable, "cut"));  // so that only the next try can tell
  world.api.lose_answers(Verb::remove, Error(Errc::unavailable, "connection reset"));
  world.suspend("compute-0");
  world.pass(std::chrono::seconds(5));
  assert_text(world.pods(), "");
  assert_text(joined(world.slurm.calls), "resume compute-0");
  assert_int_equal(world.engine->gauges().pods_running + world.engine->gauges().pods_deleting, 0);
}

/** A watch that was away tells all that happened, from where it ended on. */
void a_late_watch_tells_of_a_former_pod(void** state) {
  World& world = world_of(state);
  world.start();
  world.resume("r1", {"compute-0"});
  world.registered("compute-0");
  world.pass(std::chrono::seconds(1));
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "cut"), 1000);
  world.api.end_watches(Error(Errc::unavailable, "cut"));
  world.settle();
  Json pod = world.api.find(kPods, kNamespace, "compute-0").clone();
  Json metadata = pod["metadata"].clone();
  pod.set("metadata", metadata.set("deletionTimestamp", "2026-11-28T00:00:00Z"));
  world.api.put(kPods, kNamespace, pod);
  world.api.erase(kPods, kNamespace, "compute-0");
  world.suspend("compute-0");
  world.resume("r2", {"compute-0"});
  world.registered("compute-0");
  const std::string uid = world.uid_of("compute-0");
  world.api.forgive();
  world.pass(std::chrono::seconds(20));
  assert_int_equal(world.api.open_watches(), 2);
  assert_text(world.uid_of("compute-0"), uid);
  for (const std::string& call : world.slurm.calls) assert_false(call.starts_with("down"));
  assert_int_equal(world.engine->metrics().failed_nodes(), 0);
}

void slurmctld_is_not_blamed_for_the_api_server(void** state) {
  World& world = world_of(state);
  for (const Verb verb : {Verb::list, Verb::watch}) {
    world.api.fail_next(verb, Error(Errc::unavailable, "connection refused"), 1000);
  }
  world.start();
  world.pass(std::chrono::seconds(30));
  assert_false(world.engine->ready());
  world.slurm.fail_loads = true;
  world.slurm.failures.assign(1000, Error(Errc::unavailable, "slurmctld"));
  world.api.forgive();
  world.pass(std::chrono::seconds(9));
  assert_false(world.engine->ready());  // slurmctld has its time from when it is asked
  world.slurm.failures.clear();
}

void a_create_whose_answer_was_lost_and_the_watch_is_away(void** state) {
  World& world = world_of(state);
  world.start();
  world.cut_watches(100);
  world.settle();
  world.api.lose_answers(Verb::create, Error(Errc::unavailable, "connection reset"));
  world.ask_up("r1", {"compute-0"});
  world.pass(std::chrono::seconds(3));
  assert_true(world.engine->settled({"compute-0"}));
  assert_text(world.request_of("compute-0"), "r1");
  assert_int_equal(world.posts(), 2);  // the second is told that it is there
  assert_int_equal(world.api.count(Verb::remove), 0);
  assert_int_equal(world.slurm.calls.size(), 0);
}

void a_look_that_fails_after_a_conflict(void** state) {
  World& world = world_of(state);
  world.start();
  world.cut_watches(5);
  world.put_pod("compute-0", "r1");  // by slurm-k8s-resume itself, say
  world.put_pod("compute-1", "r0");
  world.api.fail_next(Verb::get, Error(Errc::unavailable, "HTTP 500: etcd is tired"), 4);
  const std::string ours = world.uid_of("compute-0");
  world.resume("r1", {"compute-0", "compute-1"});
  world.pass(std::chrono::seconds(20));
  assert_text(world.uid_of("compute-0"), ours);
  assert_text(world.request_of("compute-1"), "r1");
  assert_int_equal(world.api.count(Verb::remove), 1);
  // But for the Comment of a node whose former pod takes its time.
  constexpr const char* kTold = "update compute-1 slurm-k8s: waiting: pod still terminating\nupdate compute-1";
  const std::string calls = joined(world.slurm.calls);
  assert_text(calls, calls.empty() ? "" : kTold);
}

void a_pod_that_went_before_the_watch_showed_it(void** state) {
  World& world = world_of(state);
  world.start();
  world.api.fail_next(Verb::watch, Error(Errc::unavailable, "cut"), 1);
  world.api.end_watches(Error(Errc::unavailable, "cut"));
  world.settle();
  world.resume("r1", {"compute-0"});  // only the POST's answer shows the pod
  world.registered("compute-0");
  world.api.erase(kPods, kNamespace, "compute-0");
  world.api.forget_history();
  world.pass(std::chrono::seconds(31));
  assert_text(joined(world.slurm.calls), "down compute-0 slurm-k8s: pod is gone\npower_down compute-0");
}

void a_pod_of_somebody_else_has_the_name(void** state) {
  World& world = world_of(state);
  world.start();
  Json pod = Json::object();
  pod.set("metadata", Json::object().set("name", "compute-0")).set("status", Json::object().set("phase", "Running"));
  world.api.put(kPods, kNamespace, pod);
  Json copied = Json::object().set("name", "debug-0").set("labels", Json::object().set(kLabelNode, "compute-0"));
  world.api.put(kPods, kNamespace, Json::object().set("metadata", copied));
  const std::string theirs = world.uid_of("compute-0");
  world.resume("r1", {"compute-0"}, 12);
  const char* reason =
      "slurm-k8s: pod: create: pod slurm/compute-0 is there and is somebody else's: it has no label "
      "slurm-k8s.io/node=compute-0";
  assert_text(world.slurm.node("compute-0").reason, reason);
  assert_contains(world.slurm.comments[12], "somebody else's");
  world.pass(std::chrono::seconds(70));
  world.engine->suspend({"compute-0"});
  world.pass(std::chrono::seconds(70));
  assert_text(world.uid_of("compute-0"), theirs);
  assert_text(world.pods(), "compute-0,debug-0");
  assert_int_equal(world.api.count(Verb::remove), 0);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      ENGINE_TEST(faults_are_waited_out),
      ENGINE_TEST(a_create_that_conflicts_is_tried_again),
      ENGINE_TEST(throttling_makes_everything_wait_but_not_for_hours),
      ENGINE_TEST(nothing_is_sent_during_a_pause),
      ENGINE_TEST(no_pod_is_deleted_for_an_old_answer),
      ENGINE_TEST(a_refused_event_pauses_everything),
      ENGINE_TEST(requests_in_flight_are_bounded),
      ENGINE_TEST(a_lost_node_is_told_during_a_pause),
      ENGINE_TEST(a_delete_whose_answer_was_lost),
      ENGINE_TEST(a_late_watch_tells_of_a_former_pod),
      ENGINE_TEST(slurmctld_is_not_blamed_for_the_api_server),
      ENGINE_TEST(a_create_whose_answer_was_lost_and_the_watch_is_away),
      ENGINE_TEST(a_look_that_fails_after_a_conflict),
      ENGINE_TEST(a_pod_that_went_before_the_watch_showed_it),
      ENGINE_TEST(a_pod_of_somebody_else_has_the_name),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
