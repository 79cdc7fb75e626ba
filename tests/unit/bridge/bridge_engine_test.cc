// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/bridge with the engine in slurmctld: no pod is bound before it knows where, and it saves lists of jobs.
#include <string>

#include "support/bridge_world.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void no_pod_is_bound_before_slurmctld_knows_where(void**) {
  BridgeWorld f(true);
  f.run_pod("p", 1, "c-1");
  assert_text(f.kube_node("p"), "");
  assert_contains(f.condition("p", "PodScheduled"), "waits for the engine in slurmctld");
  assert_contains(f.admin.answer("/metrics").body, "\nslurm_k8s_bridge_engine_up 0\n");
  FakeEngine engine(f);
  f.run_for();
  assert_true(engine.jobs == (PodJobs{{1, {"c-1", "c-1"}}}));
  assert_text(f.kube_node("p"), "");
  engine.report();
  f.run_for(milliseconds(100));
  assert_text(f.kube_node("p"), "m1");
  assert_contains(f.admin.answer("/metrics").body, "\nslurm_k8s_bridge_engine_up 1\n");
}

// An alert on 0 would never end.
void a_bridge_without_the_engine_says_nothing_of_it(void**) {
  BridgeWorld f;
  f.run_for();
  const std::string metrics = f.admin.answer("/metrics").body;
  assert_contains(metrics, "slurm_k8s_bridge_jobs 0\n");
  assert_true(metrics.find("engine_up") == std::string::npos);
}

// It would launch where pods of ended jobs still are.
void slurmctld_is_told_nothing_before_pods_are_listed(void**) {
  BridgeWorld f(true);
  f.put_pod("p");
  f.run_for();
  f.slurm.start(1, {{"c-1", 1}});
  FakeEngine engine(f);
  engine.run_for(seconds(2));
  assert_text(f.kube_node("p"), "m1");
  engine.messages = 0;
  f.restart();
  f.caller.is_stuck = true;  // jobs are not listed
  f.run_for(seconds(3));
  assert_int_equal(engine.messages, 0);
  f.caller.is_stuck = false;
  engine.run_for(seconds(2));
  assert_true(engine.messages != 0 && engine.jobs == (PodJobs{{1, {"c-1"}}}));
}

void slurmctld_knows_where_pods_still_end(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  f.put_pod("p");
  engine.run_for(seconds(1));
  f.slurm.start(1, {{"c-1", 1}});
  engine.run_for(seconds(1));
  f.slurm.end(1, "TIMEOUT");
  engine.run_for(seconds(2));
  assert_true(engine.jobs == (PodJobs{{1, {"", "c-1"}}}));
  f.client.erase(kube::kPods, "a", "p");
  engine.run_for(seconds(1));
  assert_true(engine.jobs.empty());
}

// After a restart with an empty state, job 1 may be another user's job.
void a_new_slurmctld_launches_nothing_beside_pods_until_its_jobs_are_known(void**) {
  BridgeWorld f(true);
  auto engine = std::make_unique<FakeEngine>(f);
  f.run_pod("p", 1, "c-1");
  engine->run_for(seconds(2));
  assert_text(f.kube_node("p"), "m1");
  assert_true(engine->jobs == (PodJobs{{1, {"c-1"}}}));
  f.caller.is_stuck = true;  // jobs are not listed
  engine.reset();
  f.run_for(seconds(1));
  engine = std::make_unique<FakeEngine>(f);
  engine->run_for(seconds(2));
  assert_true(engine->jobs == (PodJobs{{1, {"c-1", "c-1"}}}));
  f.caller.is_stuck = false;
  engine->run_for(seconds(2));
  assert_true(engine->jobs == (PodJobs{{1, {"c-1"}}}));
  f.slurm.jobs.at(1).submitted += 100;  // another job, of an empty state
  engine.reset();
  f.run_for(seconds(1));
  engine = std::make_unique<FakeEngine>(f);
  engine->run_for(seconds(2));
  assert_true(engine->jobs == (PodJobs{{1, {"", "c-1"}}}));
}

/** A former process's jobs count: the engine takes no more, and would drop the connection. */
void a_restart_at_the_limit_submits_nothing(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  f.max_jobs = 3;
  f.restart();
  for (const char* pod : {"p1", "p2", "p3", "p4", "p5"}) f.put_pod(pod);
  engine.run_for(seconds(5));
  assert_int_equal(f.slurm.submits, 3);
  assert_contains(f.condition("p5", "PodScheduled"), "3 Slurm jobs of pods are enough");
  f.restart();
  engine.run_for(seconds(20));
  assert_text(f.calls(), "submit p1, submit p2, submit p3");
  f.slurm.start(2, {{"c-1", 1}});
  engine.run_for(seconds(2));
  assert_text(f.kube_node("p2"), "m1");
}

void one_user_leaves_room_for_others(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  f.max_jobs = 20;
  f.restart();
  for (int i = 0; i < 25; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  engine.run_for(seconds(20));
  assert_int_equal(f.slurm.submits, 18);
  assert_contains(f.events("SlurmPending"), "Slurm jobs of other users' pods need room");
  f.client.put(kube::kPods, "team-b", *Json::parse(R"({"metadata": {"namespace": "team-b", "name": "q"}, "spec":
                               {"schedulerName": "slurm-k8s-bridge", "containers": [{}]}})"));
  engine.run_for(seconds(3));
  assert_text(f.slurm.calls.back(), "submit q");
}

/** Other jobs wait for its nodes. */
void the_end_of_a_job_that_is_configured_is_seen(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  f.put_pod("p");
  engine.run_for(seconds(3));
  f.slurm.configure(1, {{"c-1", 1}});
  engine.run_for(seconds(1));
  assert_true(engine.jobs == (PodJobs{{1, {"c-1"}}}));
  f.slurm.end(1, "CANCELLED");
  engine.run_for(seconds(2));
  assert_true(engine.jobs.empty());
  assert_true(f.client.find(kube::kPods, "a", "p").is_null());
}

// A list is all jobs of all users.
void an_engine_saves_lists(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  f.put_pod("p");
  engine.run_for(seconds(3));  // its place in the queue is known by then
  const int before = f.slurm.loads;
  for (int i = 0; i < 4; ++i) {
    const std::string cause = i % 2 ? "Priority" : "Resources";
    f.slurm.wait_for(1, cause);
    engine.run_for(milliseconds(2500));  // causes that alternate keep a pace
    assert_text(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 1: " + cause + "; position 1");
  }
  assert_in_range(f.slurm.loads - before, 1, 4);  // each 3 s
  const int singles = f.slurm.single_loads;
  f.run_for(seconds(10));
  assert_in_range(f.slurm.single_loads - singles, 10, 25);  // two a second
  f.slurm.start(1, {{"c-1", 1}});
  engine.run_for(milliseconds(300));
  assert_text(f.kube_node("p"), "m1");
  const int lists = f.slurm.loads;
  engine.run_for(seconds(30));
  assert_in_range(f.slurm.loads - lists, 1, 11);
}

/** The engine sees no suspend. */
void a_suspend_is_seen_by_a_list(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  f.put_pod("p");
  engine.run_for(seconds(3));
  f.slurm.start(1, {{"c-1", 1}});
  engine.run_for(seconds(10));
  assert_text(f.kube_node("p"), "m1");
  Allocation& job = f.slurm.jobs.at(1);
  job.state = Allocation::State::suspended;
  job.state_name = "SUSPENDED";
  f.slurm.touch();
  engine.run_for(seconds(10));  // the time that a list takes is a real one, and stretches the 3 s
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmSuspended: Slurm job 1: SUSPENDED");
}

/** Lists tell positions: one a second is enough. */
void submissions_need_few_lists(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  engine.run_for(seconds(1));
  const int before = f.slurm.loads;
  for (int i = 0; i < 30; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  engine.run_for(seconds(3));
  assert_int_equal(f.slurm.submits, 30);
  assert_in_range(f.slurm.loads - before, 1, 3);
}

void a_start_that_the_engine_tells_needs_no_call(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  f.put_pod("p");
  engine.run_for(seconds(1));
  f.slurm.configure(1, {{"c-1", 1}});
  engine.run_for(seconds(1));
  assert_true(engine.jobs == (PodJobs{{1, {"c-1"}}}));
  assert_text(f.kube_node("p"), "");
  f.run_for(milliseconds(100));  // what it was asked since it was told so again
  f.slurm.jobs.at(1).state = Allocation::State::running;
  const int before = f.slurm.single_loads;
  engine.report();
  f.run_for(milliseconds(100));
  assert_text(f.kube_node("p"), "m1");
  assert_int_equal(f.slurm.single_loads, before);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(no_pod_is_bound_before_slurmctld_knows_where),
      SLURMK8S_TEST(a_bridge_without_the_engine_says_nothing_of_it),
      SLURMK8S_TEST(slurmctld_is_told_nothing_before_pods_are_listed),
      SLURMK8S_TEST(slurmctld_knows_where_pods_still_end),
      SLURMK8S_TEST(a_new_slurmctld_launches_nothing_beside_pods_until_its_jobs_are_known),
      SLURMK8S_TEST(a_restart_at_the_limit_submits_nothing),
      SLURMK8S_TEST(one_user_leaves_room_for_others),
      SLURMK8S_TEST(the_end_of_a_job_that_is_configured_is_seen),
      SLURMK8S_TEST(an_engine_saves_lists),
      SLURMK8S_TEST(a_suspend_is_seen_by_a_list),
      SLURMK8S_TEST(submissions_need_few_lists),
      SLURMK8S_TEST(a_start_that_the_engine_tells_needs_no_call),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
