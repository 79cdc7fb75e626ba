// SPDX-License-Identifier: GPL-2.0-or-later
// R3: bridge/bridge: a job and its pods go together, and nothing else goes.
#include <string>

#include "support/bridge_world.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::seconds;

void a_pod_goes_with_its_job(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.put_pod("next");
  f.run_for();
  f.slurm.end(1, "TIMEOUT");
  f.slurm.start(2, {{"c-0", 1}});
  f.run_for();
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmTimeout: Slurm job 1: TIMEOUT");
  assert_false(f.client.find(kube::kPods, "a", "p").at({"metadata", "deletionTimestamp"}).is_null());
  // Its processes still end there.
  assert_text(f.kube_node("next"), "");
  assert_contains(f.condition("next", "PodScheduled"), "Slurm job 2: waits for pods of earlier jobs");
  f.client.erase(kube::kPods, "a", "p");
  f.run_for();
  assert_text(f.kube_node("next"), "m0");
  assert_int_equal(f.client.count(Verb::remove), 1);
}

/** The grace period of the last DELETE; -1: the pod's own. */
int last_grace(const BridgeWorld& f) {
  int grace = 0;
  for (const auto& call : f.client.calls) {
    if (call.verb == Verb::remove) grace = call.options.grace_s;
  }
  return grace;
}

// Its node gets no other job before it has gone.
void a_pod_has_five_minutes_to_end(void**) {
  const std::pair<const char*, int> rows[] = {{R"("terminationGracePeriodSeconds": 31536000,)", 300},
                                              {R"("terminationGracePeriodSeconds": 300,)", -1},
                                              {"", -1}};
  for (const auto& [spec, grace] : rows) {
    BridgeWorld f;
    f.put_pod("p", "", spec);
    f.run_for();
    f.slurm.start(1, {{"c-0", 1}});
    f.run_for();
    f.slurm.end(1, "TIMEOUT");
    f.run_for();
    assert_int_equal(f.client.count(Verb::remove), 1);
    assert_int_equal(last_grace(f), grace);
  }
}

/** `status`: at the same time; empty: as it was. */
void mark_deleted(BridgeWorld& f, const char* pod, const char* timestamp, int grace, const std::string& status = "") {
  Json object = f.client.find(kube::kPods, "a", pod);
  Json metadata = object["metadata"].clone();
  metadata.set("deletionTimestamp", timestamp).set("deletionGracePeriodSeconds", Json::integer(grace));
  object.set("metadata", metadata);
  if (!status.empty()) object.set("status", *Json::parse(status));
  f.client.put(kube::kPods, "a", object);
}

// Its user has deleted it before, with a year.
void a_pod_that_is_being_deleted_has_no_more(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  for (const int seconds_left : {86400, 300}) {
    mark_deleted(f, "p", "2026-01-01T00:00:00Z", seconds_left);
    f.run_for();
    assert_int_equal(f.client.count(Verb::remove), seconds_left == 300);
    if (seconds_left == 86400) f.slurm.end(1, "TIMEOUT");
    f.run_for();
    assert_int_equal(f.client.count(Verb::remove), 1);
  }
  assert_int_equal(last_grace(f), 300);
  f.longest_grace = seconds(20);  // an administrator allows less since
  f.restart();
  f.run_for();
  assert_int_equal(last_grace(f), 20);
}

// Its kubelet does not answer: an administrator has to know, since no job starts there.
void a_pod_that_stays_terminating_is_told(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.put_pod("next");
  f.run_for();
  f.slurm.end(1, "CANCELLED");
  mark_deleted(f, "p", "2026-01-01T00:01:00Z", 40);
  f.slurm.start(2, {{"c-0", 1}});
  f.run_for(seconds(110));
  assert_text(f.events("SlurmPodOverdue"), "");
  assert_contains(f.admin.answer("/metrics").body, "slurm_k8s_bridge_pods_overdue 0");
  f.run_for(seconds(60));
  assert_text(f.events("SlurmPodOverdue"),
              "Slurm job 1: the pod is still terminating on Kubernetes node m0, 60 s after its grace period of 40 s\n");
  assert_contains(f.admin.answer("/metrics").body, "slurm_k8s_bridge_pods_overdue 1");
  assert_text(f.kube_node("next"), "");
  f.client.erase(kube::kPods, "a", "p");
  f.run_for();
  assert_contains(f.admin.answer("/metrics").body, "slurm_k8s_bridge_pods_overdue 0");
  assert_text(f.kube_node("next"), "m0");
}

// Who ends a pod, and what becomes of its job. A pod that is deleted may be gone before the bridge sees its end.
void ends_by_kubernetes(void**) {
  const struct {
    const char* status;  // while it is there
    bool is_deleted;
    bool is_gone;
    const char* call;  // to slurmctld
  } cases[] = {
      // Evicted by the API: kubectl drain.
      {R"("conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}])", true,
       true, "cancel 1"},
      {R"("phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 143}}}],
          "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}])",
       true, false, "cancel 1"},
      // Its program may end in time, and well.
      {R"("phase": "Succeeded",
          "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}])",
       true, true, "complete 1 0"},
      // By kube-scheduler, for another pod.
      {R"("phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 143}}}],
          "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}])",
       true, false, "cancel 1"},
      // By the kubelet, for a lack of memory or of disk.
      {R"("phase": "Failed", "reason": "Evicted",
          "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}])",
       false, false, "complete 1 256"},
      // Its controller deletes it since then.
      {R"("phase": "Failed", "reason": "Evicted", "containerStatuses": [{"state": {"terminated": {"exitCode": 143}}}],
          "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}])",
       true, true, "complete 1 36608"},
  };
  for (const auto& one : cases) {
    BridgeWorld f;
    f.run_pod("p", 1, "c-0");
    const std::string status = std::string("{") + one.status + "}";
    if (one.is_deleted) {
      mark_deleted(f, "p", "2026-01-01T00:00:30Z", 30, status);
    } else {
      Json pod = f.client.find(kube::kPods, "a", "p");
      f.client.put(kube::kPods, "a", pod.set("status", *Json::parse(status)));
    }
    f.client.deliver();
    if (one.is_gone) f.client.erase(kube::kPods, "a", "p");
    f.run_for();
    assert_text(f.calls(), std::string("submit p, ") + one.call);
  }
}

// The kubelet ends its pods, slurmd's too: slurmctld knows the node as down soon, unless that has no slurmd.
void a_kubernetes_node_shuts_down(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  Json pod = f.client.find(kube::kPods, "a", "p");
  pod.set("status", *Json::parse(R"({"phase": "Failed", "reason": "Terminated", "conditions":
      [{"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet"}]})"));
  f.client.put(kube::kPods, "a", pod);
  f.run_for(seconds(28));
  assert_text(f.calls(), "submit p");
  f.run_for(seconds(5));
  assert_text(f.calls(), "submit p, complete 1 256");
}

// Before the others have ended.
void a_deleted_pod_that_had_failed_counts(void**) {
  BridgeWorld f;
  put_group(f, 2);
  f.put_pod("p1", kMember);
  f.put_pod("p2", kMember);
  f.run_for(seconds(3));
  f.slurm.start(1, {{"c-0", 1}, {"c-1", 1}});
  f.run_for();
  f.end_pod("p1", "Failed", 3);
  f.run_for();
  f.client.erase(kube::kPods, "a", "p1");
  f.end_pod("p2", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit both, complete 1 768");
}

/** slurmctld lets it run for its GraceTime. */
void a_preempted_job_takes_its_pod_with_it(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.slurm.jobs.at(1).preempted = 1;
  f.slurm.touch();
  f.run_for();
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmPreempted: Slurm job 1: PREEMPTED");
  f.client.erase(kube::kPods, "a", "p");
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.ends, 0);
}

/** Its CPUs are others' at once, and the pod would use them. */
void a_suspended_job_ends_with_its_pod(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  Allocation& job = f.slurm.jobs.at(1);
  job.state = Allocation::State::suspended;
  job.state_name = "SUSPENDED";
  f.slurm.touch();
  f.run_for();
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmSuspended: Slurm job 1: SUSPENDED");
  assert_contains(f.events("Evicted"), "Slurm job 1: SUSPENDED");
  assert_int_equal(f.slurm.ends, 0);
  f.client.erase(kube::kPods, "a", "p");
  f.run_for(seconds(3));
  assert_text(f.calls(), "submit p, cancel 1");
}

void a_job_goes_with_its_pods(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.client.erase(kube::kPods, "a", "p");
  f.run_for();
  assert_text(f.calls(), "submit p, cancel 1");
  f.run_pod("q", 2, "c-0");
  f.client.erase(kube::kPods, "a", "q");
  f.run_for();
  assert_text(f.calls(), "submit p, cancel 1, submit q, cancel 2");
}

/** As Kubernetes does it to a pod of a Kubernetes node that is gone: both at once. */
void collect_pod(BridgeWorld& f, const char* name) {
  Json pod = f.client.find(kube::kPods, "a", name);
  pod.set("status", *Json::parse(R"({"phase": "Failed", "conditions": [
      {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}]})"));
  f.client.put(kube::kPods, "a", pod);
  f.client.erase(kube::kPods, "a", name);
  f.run_for(seconds(5));
}

void slurmctld_ends_the_job_of_a_lost_pod(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  collect_pod(f, "p");
  assert_text(f.calls(), "submit p");
  f.slurm.end(1, "NODE_FAIL");
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit p");
}

void the_job_of_a_lost_pod_ends_though_its_node_is_up(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  collect_pod(f, "p");
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p, complete 1 256");
}

/** Nothing of it has begun: Slurm has other nodes. */
void a_pod_whose_job_got_no_nodes_gets_another_job(void**) {
  for (const char* const state : {"NODE_FAIL", "BOOT_FAIL"}) {
    BridgeWorld f;
    f.put_pod("p");
    f.run_for();
    f.slurm.configure(1, {{"c-0", 1}});
    f.run_for();
    f.slurm.end(1, state);
    f.run_for(seconds(3));
    assert_text(f.calls(), "submit p, submit p");
    assert_int_equal(f.client.count(Verb::remove), 0);
    f.slurm.start(2, {{"c-1", 1}});
    f.run_for();
    assert_text(f.kube_node("p"), "m1");
    // Now it has begun.
    f.slurm.end(2, state);
    f.run_for();
    assert_contains(f.condition("p", "DisruptionTarget"), "SlurmNodeFailure");
  }
}

void a_pod_goes_when_its_job_is_cancelled_before_it_begins(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.slurm.configure(1, {{"c-0", 1}});
  f.run_for();
  f.slurm.end(1, "CANCELLED");
  f.run_for(seconds(5));
  assert_text(f.calls(), "submit p");
  assert_int_equal(f.client.count(Verb::remove), 1);
}

/** At LaunchTimeout slurmctld would cancel it, which would take the pod with it. */
void a_job_that_waits_long_for_its_nodes_is_replaced(void**) {
  BridgeWorld f;
  f.launch_timeout = seconds(300);
  f.restart();
  f.put_pod("p");
  f.run_for();
  f.slurm.configure(1, {{"c-0", 1}});
  f.run_for(seconds(280));
  assert_text(f.calls(), "submit p");
  f.run_for(seconds(19));
  assert_text(f.calls(), "submit p, cancel 1, submit p");
  assert_int_equal(f.client.count(Verb::remove), 0);
}

// Its pods may still come to be known; those of other namespaces have nothing to do with it.
void a_workload_that_is_not_known_holds_up_its_namespace_alone(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.client.put(kube::kPods, "b", *Json::parse(R"({"metadata": {"namespace": "b", "name": "x", "labels":
                               {"scheduling.x-k8s.io/pod-group": "none"}}, "spec": {"schedulerName":
                               "slurm-k8s-bridge", "containers": [{}]}})"));
  f.client.erase(kube::kPods, "a", "p");
  f.restart();
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p, cancel 1");
}

void ends_wait_once_for_a_slurmctld_that_is_away(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.client.erase(kube::kPods, "a", "p");
  f.restart();
  f.run_for(seconds(5));
  f.caller.is_stuck = true;
  f.run_for(seconds(120));
  assert_true(f.caller.most <= 4);
  f.caller.is_stuck = false;
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p, cancel 1");
}

void a_pod_goes_though_its_ended_job_is_forgotten(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.client.fail_next(Verb::patch, Error(Errc::unavailable, "no"), 5);
  f.slurm.end(1, "TIMEOUT");
  f.run_for(seconds(5));
  f.slurm.forget(1);
  f.run_for(seconds(5));
  assert_true(f.client.find(kube::kPods, "a", "p").at({"metadata", "deletionTimestamp"}).is_null());
  f.run_for(seconds(60));
  assert_false(f.client.find(kube::kPods, "a", "p").at({"metadata", "deletionTimestamp"}).is_null());
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmTimeout: Slurm job 1: TIMEOUT");
}

void a_job_without_pods_is_cancelled(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.client.erase(kube::kPods, "a", "p");
  f.restart();
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p, cancel 1");
}

/** Anybody can write a Comment: such jobs cost neither the bridge's jobs their room, nor slurmctld a call each. */
void a_forged_comment_is_no_job_of_the_bridge(void**) {
  BridgeWorld f;
  AllocationRequest request;
  request.user = request.group = 3000;
  for (int i = 0; i < 100; ++i) {
    request.comment = format("k8s:a/Pod/x%d:0123456789abcdef", i);
    assert_true(f.slurm.submit(request).ok());
  }
  for (std::uint32_t id = 1; id <= 50; ++id) f.slurm.jobs.at(id).has_script = true;
  f.slurm.touch();
  f.run_for(seconds(11));
  assert_in_range(f.slurm.ends, 10, 40);  // of those that could be the bridge's, some in each round
  f.run_for(seconds(30));
  assert_int_equal(f.slurm.ends, 50);
  for (std::uint32_t id = 1; id <= 50; ++id) assert_true(f.slurm.jobs.at(id).state == Allocation::State::pending);
}

// The pod's creator may submit jobs. The pod names another user's job.
void a_pod_that_names_a_job_of_others_ends_nothing(void**) {
  BridgeWorld f;
  AllocationRequest request;
  request.name = "theirs";
  request.user = request.group = 3000;
  for (const char* comment : {"", "k8s:x", "k8s:a/Pod/p"}) {
    request.comment = comment;
    assert_true(f.slurm.submit(request).ok());
  }
  for (std::uint32_t id = 1; id <= 3; ++id) f.slurm.start(id, {{"c-0", 1}});
  for (int id = 1; id <= 3; ++id) {
    f.client.put(kube::kPods, "a",
                 *Json::parse(format(R"({"metadata": {"namespace": "a", "name": "x%d", "labels":
                                        {"slurm-k8s.io/bridge": "slurm-k8s-bridge"}, "annotations":
                                        {"slurm-k8s.io/job-id": "%d", "slurm-k8s.io/job-submitted": "1",
                                         "slurm-k8s.io/kubernetes-node": "m0"}}, "spec": {"containers": [{}]}})",
                                     id, id)));
  }
  f.run_for(seconds(40));
  assert_int_equal(f.slurm.ends, 0);
}

void a_changed_comment_hides_nothing(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.slurm.jobs.at(1).comment = "mine";
  f.slurm.end(1, "CANCELLED");
  f.run_for();
  assert_text(f.condition("p", "DisruptionTarget"), "SlurmCancelled: Slurm job 1: CANCELLED");
}

void a_forged_pod_ends_nobodys_job(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  // In another namespace, with the marks that the bridge itself writes.
  const std::string submitted = std::to_string(f.slurm.jobs.at(1).submitted);
  f.client.put(kube::kPods, "b",
               *Json::parse(format(R"({"metadata": {"namespace": "b", "name": "x", "annotations":
                                      {"slurm-k8s.io/job-id": "1", "slurm-k8s.io/job-submitted": "%s"}}, "spec":
                                      {"schedulerName": "slurm-k8s-bridge", "nodeName": "m0", "containers": []},
                                      "status": {"phase": "Failed"}})",
                                   submitted.c_str())));
  f.restart();
  f.run_for(seconds(30));
  assert_text(f.calls(), "submit p");
  f.end_pod("p", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p, complete 1 0");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_pod_goes_with_its_job),
      SLURMK8S_TEST(a_pod_has_five_minutes_to_end),
      SLURMK8S_TEST(a_pod_that_is_being_deleted_has_no_more),
      SLURMK8S_TEST(a_pod_that_stays_terminating_is_told),
      SLURMK8S_TEST(ends_by_kubernetes),
      SLURMK8S_TEST(a_kubernetes_node_shuts_down),
      SLURMK8S_TEST(a_preempted_job_takes_its_pod_with_it),
      SLURMK8S_TEST(a_suspended_job_ends_with_its_pod),
      SLURMK8S_TEST(a_job_goes_with_its_pods),
      SLURMK8S_TEST(slurmctld_ends_the_job_of_a_lost_pod),
      SLURMK8S_TEST(a_pod_whose_job_got_no_nodes_gets_another_job),
      SLURMK8S_TEST(a_pod_goes_when_its_job_is_cancelled_before_it_begins),
      SLURMK8S_TEST(a_job_that_waits_long_for_its_nodes_is_replaced),
      SLURMK8S_TEST(the_job_of_a_lost_pod_ends_though_its_node_is_up),
      SLURMK8S_TEST(a_job_without_pods_is_cancelled),
      SLURMK8S_TEST(a_forged_comment_is_no_job_of_the_bridge),
      SLURMK8S_TEST(a_workload_that_is_not_known_holds_up_its_namespace_alone),
      SLURMK8S_TEST(ends_wait_once_for_a_slurmctld_that_is_away),
      SLURMK8S_TEST(a_pod_goes_though_its_ended_job_is_forgotten),
      SLURMK8S_TEST(a_deleted_pod_that_had_failed_counts),
      SLURMK8S_TEST(a_pod_that_names_a_job_of_others_ends_nothing),
      SLURMK8S_TEST(a_changed_comment_hides_nothing),
      SLURMK8S_TEST(a_forged_pod_ends_nobodys_job),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
