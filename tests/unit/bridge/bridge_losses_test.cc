// SPDX-License-Identifier: GPL-2.0-or-later
// R4: bridge/bridge: what is lost, forgotten or given twice makes no second job, and ends none.
#include <algorithm>
#include <string>

#include "support/bridge_world.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

void a_lost_answer_makes_no_second_job(void**) {
  BridgeWorld f;
  f.slurm.lost_answer = Error(Errc::timeout, "slurm: timed out");
  f.put_pod("p");
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p");
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m0");
}

void without_a_list_nothing_is_submitted_again(void**) {
  BridgeWorld f;
  f.run_for();
  f.slurm.lost_answer = Error(Errc::unavailable, "slurm: timed out");
  f.slurm.fail_loads = true;
  f.put_pod("p");
  f.run_for(milliseconds(60));
  for (int i = 0; i < 30; ++i) f.slurm.failures.push_back(Error(Errc::unavailable, "slurm: connection refused"));
  f.run_for(seconds(12));
  assert_int_equal(f.slurm.submits, 1);
  f.slurm.failures.clear();
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p");
}

// As at MaxJobCount: it answers, and takes no job.
void a_slurmctld_that_takes_no_job_is_asked_rarely(void**) {
  BridgeWorld f(true);
  FakeEngine engine(f);
  engine.run_for(seconds(2));
  const int lists = f.slurm.lists;
  f.slurm.failures.assign(1000, Error(Errc::unavailable, "slurm: full"));
  for (int i = 0; i < 20; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  engine.run_for(seconds(60));
  assert_in_range(f.slurm.submits, 4, 20);
  assert_in_range(f.slurm.lists - lists, 1, 30);
  for (const char* pod : {"p0", "p19"}) {
    assert_text(f.condition(pod, "PodScheduled"), "SlurmPending: slurmctld takes no job now: slurm: full");
  }
  f.slurm.failures.clear();
  engine.run_for(seconds(62));
  assert_int_equal(f.slurm.jobs.size(), 20);
}

/** Who does not answer at all may do so at any time. */
void after_an_outage_jobs_are_submitted_soon(void**) {
  BridgeWorld f;
  f.run_for();
  f.slurm.failures.assign(100000, Error(Errc::unavailable, "slurm: connection refused"));
  f.slurm.fail_loads = true;
  f.put_pod("p");
  f.run_for(seconds(120));
  f.slurm.failures.clear();
  f.run_for(seconds(7));
  assert_int_equal(f.slurm.jobs.size(), 1);
}

void a_job_whose_id_another_one_has_ends_nothing(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.slurm.lose(1);
  f.put_pod("q");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit p, submit q, submit p");
  assert_text(f.kube_node("q"), "m0");
  f.slurm.start(2, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
  f.end_pod("p", "Succeeded");
  f.run_for();
  f.end_pod("q", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p, submit q, submit p, complete 2 0, complete 1 0");
}

/** Within the moment between a look at the jobs and the call. */
void a_job_that_has_the_id_by_then_is_not_ended(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.slurm.jobs.at(1).submitted += 1;
  f.end_pod("p", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p");
}

/** Its Slurm node has no pod: nothing was asked of the API server, so the pod has not begun. */
void a_pod_that_was_not_bound_outlives_its_node(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.client.erase(kube::kPods, "slurm", "c-0");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  assert_contains(f.condition("p", "PodScheduled"), "node c-0 has no pod");
  f.slurm.end(1, "NODE_FAIL");
  f.run_for(seconds(5));
  assert_true(f.client.find(kube::kPods, "a", "p").at({"metadata", "deletionTimestamp"}).is_null());
  assert_text(f.calls(), "submit p, submit p");
}

void a_restart_changes_nothing(void**) {
  BridgeWorld f;
  put_group(f, 2);
  f.put_pod("p1", kMember);
  f.put_pod("p2", kMember);
  f.put_pod("q");
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.submits, 2);
  f.restart();
  f.run_for(seconds(3));
  const std::uint32_t group = f.slurm.requests.at(1).tasks == 2 ? 1 : 2;
  f.slurm.start(group, {{"c-0", 1}, {"c-1", 1}});
  f.client.fail_next(Verb::create, Error(Errc::unavailable, "no"), 1);  // one of the two is bound
  f.run_for(milliseconds(100));
  f.restart();
  f.run_for(seconds(15));
  assert_text(f.kube_node("p1") + f.kube_node("p2"), "m0m1");
  assert_int_equal(f.slurm.submits, 2);
  assert_int_equal(f.slurm.ends, 0);
  f.end_pod("p1", "Succeeded");
  f.end_pod("p2", "Succeeded");
  f.restart();
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.ends, 1);
  assert_text(f.slurm.jobs.at(group).state_name, "COMPLETED");
}

// It is known only later that they are a PodGroup's.
void the_rest_of_a_half_bound_gang_is_bound_after_a_restart(void**) {
  BridgeWorld f;
  put_group(f, 3);
  for (const char* name : {"p1", "p2", "p3"}) f.put_pod(name, kMember);
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit both");
  f.bridge.reset();  // when one of the three is bound
  f.slurm.start(1, {{"c-0", 2}, {"c-1", 1}});
  const std::string bound =
      format(R"(%s, "annotations": {"slurm-k8s.io/job-id": "1", "slurm-k8s.io/job-submitted": "%lld"})", kMember,
             static_cast<long long>(f.slurm.jobs.at(1).submitted));
  f.put_pod("p1", bound.c_str(), R"("nodeName": "m0",)");
  f.restart();
  f.run_for(seconds(30));
  assert_text(f.kube_node("p1") + f.kube_node("p2") + f.kube_node("p3"), "m0m0m1");
  assert_text(f.annotation("p3", kAnnotationRank), "2");
  assert_text(f.calls(), "submit both");
}

constexpr kube::Resource kJobs{"batch/v1", "jobs"};

/** Of two pods at a time, three in all. */
void put_job(BridgeWorld& f) {
  f.client.put(kJobs, "a", *Json::parse(R"({"metadata": {"namespace": "a", "name": "train"}, "spec":
                                           {"completionMode": "Indexed", "parallelism": 2, "completions": 3}})"));
}
/** More than `uid` may follow, such as R"(, "deletionTimestamp": "…")". */
void put_pod_of_job(BridgeWorld& f, const char* name, const char* uid, const char* more = "") {
  f.put_pod(name,
            format(R"(, "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "%s",
                            "controller": true}]%s)",
                   uid, more)
                .c_str());
}

// The last index, and a retry, come when the pods before them are over.
void fewer_pods_that_come_later_start(void**) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    BridgeWorld f;
    put_job(f);
    put_pod_of_job(f, "p0", "J");
    put_pod_of_job(f, "p1", "J");
    f.run_for(seconds(3));
    assert_text(f.calls(), "submit train");
    f.slurm.start(1, {{"c-0", 2}});
    f.run_for();
    f.end_pod("p0", phase);
    f.end_pod("p1", phase);
    f.run_for(seconds(10));
    put_pod_of_job(f, "p2", "J");
    f.run_for(seconds(7));
    const bool is_told = f.condition("p2", "PodScheduled") == "SlurmPending: a/Job/train: 1 of 2 pods are there";
    assert_int_equal(is_told, std::string(phase) == "Failed");
    f.run_for(seconds(27));
    assert_int_equal(f.slurm.submits, 2);
    // The bridge may have begun meanwhile.
    f.restart();
    f.run_for(seconds(3));
    assert_int_equal(f.slurm.submits, 2);
    assert_int_equal(f.slurm.ends, 1);
  }
}

// Its pods may be fewer at first: a quota counts those that still end.
void a_job_of_the_name_again_waits_for_its_own_pods(void**) {
  BridgeWorld f;
  put_job(f);
  put_pod_of_job(f, "p0", "former");
  put_pod_of_job(f, "p1", "former");
  f.run_for(seconds(3));
  f.slurm.start(1, {{"c-0", 2}});
  f.run_for();
  put_job(f);
  put_pod_of_job(f, "q0", "today's");
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit train");
  put_pod_of_job(f, "q1", "today's");
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit train, submit train");
  assert_int_equal(f.slurm.requests.at(2).tasks, 2);
}

// A group that is made again starts together, though the former one's job has not ended yet.
void a_group_that_is_made_again_starts_together(void**) {
  BridgeWorld f;
  put_group(f, 2);
  f.put_pod("p1", kMember);
  f.put_pod("p2", kMember);
  f.run_for(seconds(3));
  f.slurm.start(1, {{"c-0", 2}});
  f.run_for();
  for (const char* name : {"p1", "p2"}) {
    Json pod = f.client.find(kube::kPods, "a", name);
    Json metadata = pod["metadata"].clone();
    pod.set("metadata", metadata.set("deletionTimestamp", "2026-11-27T00:00:00Z"));
    f.client.put(kube::kPods, "a", pod);
  }
  f.put_pod("q1", kMember);
  f.run_for(seconds(20));
  assert_text(f.calls(), "submit both");
  f.put_pod("q2", kMember);
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit both, submit both");
}

// Jobs that their pods do not find in time would be cancelled.
void a_backlog_cancels_no_job_after_a_restart(void**) {
  BridgeWorld f;
  for (int i = 0; i < 40; ++i) f.put_pod(("z" + std::to_string(i)).c_str());
  f.run_for(seconds(5));
  assert_int_equal(f.slurm.submits, 40);
  for (int i = 0; i < 900; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  f.restart();
  f.run_for(seconds(30));
  assert_int_equal(f.slurm.ends, 0);
}

void a_gate_needs_another_scheduler(void**) {
  BridgeWorld f;
  f.put_pod("p", "", R"("schedulingGates": [{"name": "slurm-k8s.io/bridge"}],)");
  f.run_for(seconds(3));
  assert_text(f.calls(), "");
  assert_contains(f.events("SlurmJobRefused"), "spec.schedulingGates: Forbidden: ");
}

/** slurmctld was killed before it saved where the job runs, or the job's owner gave nodes back. */
void pods_follow_their_jobs_nodes(void**) {
  BridgeWorld f;
  put_group(f, 2);
  f.put_pod("p1", kMember);
  f.put_pod("p2", kMember);
  f.run_for(seconds(3));
  f.client.fail_next(Verb::create, Error(Errc::unavailable, "no"), 50);
  f.slurm.start(1, {{"c-0", 1}, {"c-1", 1}});
  f.run_for();
  f.client.forgive();
  f.slurm.start(1, {{"c-1", 2}});
  f.run_for(seconds(65));
  assert_text(f.kube_node("p1") + f.kube_node("p2"), "m1m1");
  assert_text(f.annotation("p1", kAnnotationRank) + f.annotation("p2", kAnnotationRank), "01");
}

// One of them is bound: what it takes is not there for the others.
void a_smaller_job_has_less_room(void**) {
  BridgeWorld f;
  put_group(f, 3);
  for (const char* name : {"p1", "p2", "p3"}) f.put_pod(name, kMember);
  f.run_for(seconds(3));
  f.slurm.start(1, {{"c-0", 1}});  // as if its other nodes had no room
  f.run_for();
  assert_text(f.kube_node("p1") + f.kube_node("p2") + f.kube_node("p3"), "m0");
  assert_contains(f.condition("p2", "PodScheduled"), "its nodes have no room for this pod");
}

/** As an admission policy may: only an administrator can change that. */
void a_refused_binding_is_told(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.client.fail_next(Verb::create, Error(Errc::forbidden, "policy of a site"), 500);
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for(seconds(30));
  assert_text(f.condition("p", "PodScheduled"),
              "SlurmPending: the API server refuses the pod's binding: policy of a site");
  f.client.forgive();
  f.run_for(seconds(65));
  assert_text(f.kube_node("p"), "m0");
  assert_contains(f.events("SlurmJobRefused"), "the API server refuses the pod's binding: policy of a site");
}

/** A pod that waits for a PodGroup may have one job of the namespace, not all. */
void a_pod_without_its_group_keeps_no_other_job(void**) {
  BridgeWorld f;
  f.put_pod("q", kMember);  // there is no such PodGroup
  f.run_pod("p", 1, "c-0");
  f.bridge->stop();
  f.client.erase(kube::kPods, "a", "p");
  f.restart();
  f.run_for(seconds(15));
  assert_text(f.calls(), "submit p, cancel 1");
}

void an_empty_slurmctld_deletes_nothing(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.slurm.forget(1);
  f.run_for(seconds(60));
  f.restart();
  f.run_for(seconds(60));
  assert_int_equal(f.client.count(Verb::remove), 0);
  assert_int_equal(f.slurm.submits, 1);
  assert_contains(f.events("SlurmJobUnknown"), "Slurm job 1 is unknown to slurmctld; the pod stays");
  assert_contains(f.admin.answer("/metrics").body, "slurm_k8s_bridge_jobs_unknown 1");
}

void all_pods_are_told_that_their_jobs_are_unknown(void**) {
  constexpr std::uint32_t kPods = 100;  // of more than are recorded in a second
  BridgeWorld f;
  f.slurm.starts_at_once = {{"c-0", 1}};
  for (std::uint32_t i = 0; i < kPods; ++i) f.put_pod(("p" + std::to_string(i)).c_str());
  f.run_for(seconds(20));
  assert_int_equal(f.bindings(), kPods);
  for (std::uint32_t id = 1; id <= kPods; ++id) f.slurm.forget(id);
  f.run_for(seconds(60));
  const std::string events = f.events("SlurmJobUnknown");
  assert_int_equal(std::count(events.begin(), events.end(), '\n'), kPods);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_lost_answer_makes_no_second_job),
      SLURMK8S_TEST(without_a_list_nothing_is_submitted_again),
      SLURMK8S_TEST(a_job_whose_id_another_one_has_ends_nothing),
      SLURMK8S_TEST(a_job_that_has_the_id_by_then_is_not_ended),
      SLURMK8S_TEST(a_pod_that_was_not_bound_outlives_its_node),
      SLURMK8S_TEST(a_restart_changes_nothing),
      SLURMK8S_TEST(the_rest_of_a_half_bound_gang_is_bound_after_a_restart),
      SLURMK8S_TEST(fewer_pods_that_come_later_start),
      SLURMK8S_TEST(a_job_of_the_name_again_waits_for_its_own_pods),
      SLURMK8S_TEST(a_group_that_is_made_again_starts_together),
      SLURMK8S_TEST(a_backlog_cancels_no_job_after_a_restart),
      SLURMK8S_TEST(a_gate_needs_another_scheduler),
      SLURMK8S_TEST(a_pod_without_its_group_keeps_no_other_job),
      SLURMK8S_TEST(an_empty_slurmctld_deletes_nothing),
      SLURMK8S_TEST(all_pods_are_told_that_their_jobs_are_unknown),
      SLURMK8S_TEST(a_slurmctld_that_takes_no_job_is_asked_rarely),
      SLURMK8S_TEST(after_an_outage_jobs_are_submitted_soon),
      SLURMK8S_TEST(pods_follow_their_jobs_nodes),
      SLURMK8S_TEST(a_smaller_job_has_less_room),
      SLURMK8S_TEST(a_refused_binding_is_told),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
