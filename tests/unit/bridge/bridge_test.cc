// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/bridge: pods, jobs and nodes together, between a fake API server and a fake slurmctld.
#include "bridge/bridge.hpp"

#include <string>

#include "bridge/wait_notice.hpp"
#include "support/bridge_world.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

void a_pod_runs_on_the_node_of_its_job(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  assert_text(f.calls(), "submit p");
  const AllocationRequest& request = f.slurm.requests.at(1);
  assert_int_equal(request.user, 2001);
  assert_contains(request.comment, "k8s:a/Pod/p:");
  f.slurm.wait_for(1, "Resources");
  f.run_for();
  assert_text(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 1: Resources; position 1");
  assert_text(f.events("SlurmPending"), "Slurm job 1: Resources; position 1\n");
  assert_text(f.kube_node("p"), "");

  f.slurm.start(1, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
  assert_text(f.annotation("p", kAnnotationJob), "1");
  assert_text(f.annotation("p", kAnnotationRank), "0");
  assert_text(f.annotation("p", kAnnotationKubeNodes), "m1");
  assert_int_equal(f.bindings(), 1);
  assert_contains(f.events("Scheduled"), "a/p is bound to m1: Slurm job 1");

  f.end_pod("p", "Failed", 3);
  f.run_for();
  assert_text(f.calls(), "submit p, complete 1 768");
  f.run_for(seconds(20));
  assert_text(f.calls(), "submit p, complete 1 768");
}

// What changes all the time puts off nothing that is due.
void changes_put_no_full_round_off(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  const int before = f.slurm.loads;
  for (int i = 0; i < 20; ++i) {
    f.slurm.wait_for(1, i % 2 ? "Priority" : "Resources");
    f.put_pod("p", format(R"(, "annotations": {"x": "%d"})", i).c_str());
    f.run_for(milliseconds(440));
  }
  assert_in_range(f.slurm.loads - before, 16, 18);  // two a second
}

void a_new_job_is_told_after_a_second(void**) {
  for (const int later : {0, 120, 240, 360, 480}) {
    BridgeWorld f;
    f.put_pod("other");
    f.run_for(seconds(3) + milliseconds(later));
    f.put_pod("p");
    f.run_for(milliseconds(1200));
    assert_contains(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 2: ");
  }
}

// With thousands of waiting pods a restart is no reason to write to all of them.
void a_restart_writes_no_estimates(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.slurm.wait_for(1, "Resources");
  f.run_for(seconds(3));
  assert_text(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 1: Resources; position 1");
  f.slurm.jobs.at(1).position = 2;
  f.slurm.touch();
  const int patches = f.client.count(Verb::patch);
  f.restart();
  f.run_for(kMinEstimatePace - milliseconds(100));
  assert_int_equal(f.client.count(Verb::patch), patches);
  f.run_for(seconds(10));
  assert_text(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 1: Resources; position 2");
  f.restart();
  f.slurm.wait_for(1, "Priority");
  f.run_for(seconds(3));
  assert_text(f.condition("p", "PodScheduled"), "SlurmPending: Slurm job 1: Priority; position 2");
}

// Each write is one more for the API server, and for all that watch pods.
void a_pod_whose_job_starts_at_once_is_only_bound(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for(milliseconds(400));
  f.slurm.start(1, {{"c-1", 1}});
  f.run_for(milliseconds(400));
  assert_text(f.kube_node("p"), "m1");
  assert_int_equal(f.client.count(Verb::patch), 0);
  assert_text(f.events("SlurmJobSubmitted"), "");
  f.put_pod("q");
  f.run_for(seconds(5));
  assert_contains(f.condition("q", "PodScheduled"), "SlurmPending: Slurm job 2: ");
  assert_text(f.events("SlurmJobSubmitted"), "Slurm job 2\n");
}

void a_pod_says_its_place_in_the_queue(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.slurm.wait_for(1, "Resources");
  f.run_for();
  f.slurm.jobs.at(1).position = 3;
  f.slurm.wait_for(1, "Resources", 1'000'000'000);
  f.run_for(seconds(15));  // the API server isn't told of each step
  constexpr const char* kText = "Slurm job 1: Resources; position 3; expected start 2001-09-09T01:47:00Z";
  assert_text(f.condition("p", "PodScheduled"), std::string("SlurmPending: ") + kText);
  assert_text(f.events("SlurmPending"), std::string(kText) + "\n");
  f.slurm.jobs.at(1).priority = 0;
  f.slurm.jobs.at(1).position = 0;
  f.slurm.wait_for(1, "JobHeldAdmin");
  f.run_for(seconds(3));
  assert_text(f.events("SlurmPending"), "Slurm job 1: JobHeldAdmin\n");
}

void other_calls_wait_for_few_submissions(void**) {
  BridgeWorld f;
  for (int i = 0; i < 30; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.submits, 30);
  assert_true(f.caller.most <= 6);  // four submissions, a list, and an end
}

// A node with a job is idle until the API server takes the binding of its pod.
void submissions_wait_for_bindings(void**) {
  BridgeWorld f;
  f.slurm.starts_at_once = {{"c-2", 1}};  // its pod isn't there yet
  for (int i = 0; i < 40; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  f.run_for(seconds(3));
  assert_in_range(f.slurm.submits, 6, 12);
  f.put_node("c-2", "m1");
  f.run_for(seconds(4));
  assert_int_equal(f.slurm.submits, 40);
  assert_int_equal(f.bindings(), 40);
}

void gangs_that_are_not_bound_hold_up_no_other_for_long(void**) {
  BridgeWorld f;
  f.slurm.starts_at_once = {{"c-2", 1}};
  for (int i = 0; i < 40; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  f.run_for(seconds(30));
  assert_int_equal(f.slurm.submits, 40);
}

void a_pod_group_starts_together(void**) {
  BridgeWorld f;
  f.put_pod("p1", kMember);
  f.run_for();
  assert_text(f.calls(), "");
  assert_contains(f.condition("p1", "PodScheduled"), "SlurmPending: a/PodGroup/g: ");
  put_group(f, 2);
  f.run_for(seconds(7));
  assert_text(f.calls(), "");
  f.put_pod("p2", kMember);
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit both");
  assert_int_equal(f.slurm.requests.at(1).tasks, 2);
  f.slurm.start(1, {{"c-1", 1}, {"c-0", 1}});
  f.run_for();
  assert_text(f.kube_node("p1") + f.kube_node("p2"), "m0m1");
  assert_text(f.annotation("p2", kAnnotationRank), "1");
  assert_text(f.annotation("p2", kAnnotationKubeNodes), "m0,m1");
  f.end_pod("p1", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit both");
  f.end_pod("p2", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit both, complete 1 0");
}

/** An exclusive job has all CPUs of its nodes: the GPUs tell how many pods go to each. */
/** B9: a group has a name in its namespace alone. */
void groups_of_two_namespaces_do_not_mix(void**) {
  BridgeWorld f;
  put_group(f, 2);
  f.client.put(kPodGroups, "team-b",
               *Json::parse(R"({"metadata": {"namespace": "team-b", "name": "g"}, "spec": {"minMember": 1}})"));
  f.put_pod("p1", kMember);
  Json pod = f.client.find(kube::kPods, "a", "p1");
  f.client.put(kube::kPods, "team-b",
               pod.set("metadata", *Json::parse(R"({"namespace": "team-b", "name": "p1", "uid": "of-b",
                                                    "labels": {"scheduling.x-k8s.io/pod-group": "g"}})")));
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit g");
  assert_int_equal(f.slurm.requests.at(1).user, 2002);
  assert_contains(f.slurm.requests.at(1).comment, "k8s:team-b/PodGroup/g:");
  f.put_pod("p2", kMember);
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit g, submit both");
  assert_int_equal(f.slurm.requests.at(2).user, 2001);
  assert_int_equal(f.slurm.requests.at(2).tasks, 2);
}

void pods_go_where_their_gpus_are(void**) {
  BridgeWorld f;
  constexpr const char* kGpus = R"("initContainers": [{"resources": {"requests": {"nvidia.com/gpu": 1}}}],)";
  put_group(f, 2);
  for (const char* name : {"p1", "p2"}) f.put_pod(name, kMember, kGpus);
  f.run_for(std::chrono::seconds(3));
  assert_text(f.slurm.requests.at(1).gres, "gpu:1");
  f.slurm.start(1, {{"c-0", 8, 1}, {"c-1", 8, 1}});
  f.run_for();
  assert_text(f.kube_node("p1"), "m0");
  assert_text(f.kube_node("p2"), "m1");
}

void who_may_not_is_told(void**) {
  BridgeWorld f;
  f.put_pod("p", R"(, "annotations": {"slurmjob.slinky.slurm.net/qos": "high"})");
  f.client.put(kube::kPods, "b", *Json::parse(R"({"metadata": {"namespace": "b", "name": "x"}, "spec": {"schedulerName":
                               "slurm-k8s-bridge", "containers": []}})"));
  f.run_for(seconds(3));
  assert_text(f.calls(), "");
  assert_contains(f.condition("p", "PodScheduled"), "SlurmPending: annotation qos: Forbidden");
  assert_contains(f.events("SlurmJobRefused"), "annotation qos: Forbidden");
  assert_int_equal(f.client.names(kWaitEvents, "b").size(), 1);
  // slurmctld's refusal is told, and tried again later.
  f.slurm.failures.push_back(Error(Errc::invalid, "slurm: Invalid account"));
  f.put_pod("q");
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit q");
  assert_text(f.condition("q", "PodScheduled"), "SlurmPending: slurm: Invalid account");
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit q, submit q");
}

void a_gang_has_one_priority_class(void**) {
  BridgeWorld f;
  f.put_pod("p", "", R"("priorityClassName": "high",)");
  f.run_for();
  assert_text(f.slurm.requests.at(1).qos, "urgent");
  put_group(f, 2);
  f.put_pod("p1", kMember, R"("priorityClassName": "high",)");
  f.put_pod("p2", kMember);
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit p");
  assert_contains(f.events("SlurmJobRefused"), "pods p1 and p2 of one gang differ in spec.priorityClassName");
}

// What is known of the former object says nothing of the one that has its name now.
void another_group_of_the_name_has_its_own_size(void**) {
  BridgeWorld f;
  put_group(f, 1);
  f.put_pod("p1", kMember);
  f.run_for(seconds(5));
  assert_text(f.calls(), "submit both");
  f.client.erase(kube::kPods, "a", "p1");
  put_group(f, 2);
  f.put_pod("p2", kMember);
  f.run_for(seconds(8));
  assert_text(f.calls(), "submit both, cancel 1");
  f.put_pod("p3", kMember);
  f.run_for(seconds(8));
  assert_text(f.calls(), "submit both, cancel 1, submit both");
  assert_int_equal(f.slurm.requests.at(2).tasks, 2);
}

void a_group_that_never_started_is_forgotten_too(void**) {
  BridgeWorld f;
  put_group(f, 2);
  f.put_pod("p1", kMember);
  f.run_for(seconds(5));
  f.client.erase(kube::kPods, "a", "p1");
  f.run_for(seconds(2));
  put_group(f, 1);
  f.put_pod("p2", kMember);
  f.run_for(seconds(5));
  assert_text(f.calls(), "submit both");
}

void a_waiting_group_may_get_another_size(void**) {
  BridgeWorld f;
  put_group(f, 3);
  f.put_pod("p1", kMember);
  f.put_pod("p2", kMember);
  f.run_for(seconds(5));
  assert_text(f.calls(), "");
  put_group(f, 2);
  f.run_for(seconds(70));  // it is read each minute
  assert_text(f.calls(), "submit both");
}

// Once, whatever becomes of its job.
void a_pod_is_told_of_fields_without_effect(void**) {
  BridgeWorld f;
  f.put_pod("p", "", R"("preemptionPolicy": "Never",)");
  f.put_pod("q");
  f.run_for();
  f.slurm.end(1, "NODE_FAIL");
  f.run_for(seconds(5));
  assert_int_equal(f.slurm.submits, 3);
  assert_text(f.events("SlurmFieldIgnored"), "spec.preemptionPolicy: no effect: the bridge cannot tell Slurm\n");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_pod_runs_on_the_node_of_its_job),
      SLURMK8S_TEST(changes_put_no_full_round_off),
      SLURMK8S_TEST(a_new_job_is_told_after_a_second),
      SLURMK8S_TEST(a_restart_writes_no_estimates),
      SLURMK8S_TEST(a_pod_whose_job_starts_at_once_is_only_bound),
      SLURMK8S_TEST(a_pod_says_its_place_in_the_queue),
      SLURMK8S_TEST(other_calls_wait_for_few_submissions),
      SLURMK8S_TEST(submissions_wait_for_bindings),
      SLURMK8S_TEST(gangs_that_are_not_bound_hold_up_no_other_for_long),
      SLURMK8S_TEST(a_pod_group_starts_together),
      SLURMK8S_TEST(groups_of_two_namespaces_do_not_mix),
      SLURMK8S_TEST(pods_go_where_their_gpus_are),
      SLURMK8S_TEST(who_may_not_is_told),
      SLURMK8S_TEST(a_gang_has_one_priority_class),
      SLURMK8S_TEST(another_group_of_the_name_has_its_own_size),
      SLURMK8S_TEST(a_group_that_never_started_is_forgotten_too),
      SLURMK8S_TEST(a_pod_is_told_of_fields_without_effect),
      SLURMK8S_TEST(a_waiting_group_may_get_another_size),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
