// SPDX-License-Identifier: GPL-2.0-or-later
// decode_pod(): what a pod's status says about its node, in kubelet's and the scheduler's own words.
#include "nodeset/pod.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;
using Kind = StartProblem::Kind;

namespace {

Pod pod_with_status(const std::string& status) {
  return decode_pod(
      *Json::parse(R"({"metadata":{"uid":"u1","annotations":{"slurm-k8s.io/request":"r1"}},"status":)" + status + "}"));
}

void reads_the_metadata(void**) {
  const Pod pod = pod_with_status("{}");
  assert_text(pod.uid, "u1");
  assert_text(pod.request, "r1");
  assert_false(pod.deleting);
  assert_text(pod.ended, "");
  assert_true(decode_pod(*Json::parse(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}})")).deleting);
}

void says_what_keeps_a_pod(void**) {
  const Pod pod = decode_pod(*Json::parse(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",
      "deletionGracePeriodSeconds":30,"finalizers":["a/b","c/d"]},"spec":{"nodeName":"m1"}})"));
  assert_int_equal(pod.grace.count(), 30);
  assert_text(describe_deletion(pod), "still terminating on kubernetes node m1, finalizers: a/b,c/d");
  const Pod unplaced = decode_pod(*Json::parse(R"({"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",
      "deletionGracePeriodSeconds":99999999999}})"));
  assert_int_equal(unplaced.grace.count(), 24 * 3600);
  assert_text(describe_deletion(unplaced), "still terminating");
}

void says_what_hinders(void**) {
  const auto waiting = [](const char* reason, const char* message) {
    return std::string(R"({"phase":"Pending","containerStatuses":[{"name":"slurmd","state":{"waiting":{"reason":")") +
           reason + R"(","message":")" + message + R"("}}}]})";
  };
  const struct {
    std::string status;
    Kind kind;
    const char* text;
  } cases[] = {
      {R"({"phase":"Pending"})", Kind::none, ""},
      {R"({"phase":"Running","containerStatuses":[{"state":{"running":{}}}]})", Kind::none, ""},
      {R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable",
           "message":"0/3 nodes are available: 3 Insufficient cpu."}]})",
       Kind::unschedulable, "unschedulable: 0/3 nodes are available: 3 Insufficient cpu."},
      {R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"SchedulingGated"}]})",
       Kind::unschedulable, "SchedulingGated"},
      {R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True"}]})", Kind::none, ""},
      {waiting("ContainerCreating", ""), Kind::creating, "pulling images, creating containers"},
      {waiting("ErrImagePull", "not found"), Kind::failing, "ErrImagePull: not found"},
      {waiting("CreateContainerConfigError", "secret \\\"x\\\" not found"), Kind::failing,
       "CreateContainerConfigError: secret \"x\" not found"},
      {R"({"phase":"Pending","initContainerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}],
           "containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}]})",
       Kind::failing, "ErrImagePull"},
      {R"({"phase":"Failed","reason":"OutOfcpu","conditions":[{"type":"PodScheduled","status":"False"}]})", Kind::none,
       ""},
  };
  for (const auto& row : cases) {
    const StartProblem start_problem = pod_with_status(row.status).start_problem;
    if (start_problem.kind != row.kind || start_problem.text != row.text) {
      fail_msg("%s: kind %d, %s", row.status.c_str(), static_cast<int>(start_problem.kind), start_problem.text.c_str());
    }
  }
}

/** It may have jobs: what fails beside it must not end them. */
void what_fails_beside_slurmd_is_no_start_problem(void**) {
  constexpr const char* kFails = R"("state":{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s"}}})";
  const auto pod = [&](const char* phase, const char* slurmd, const char* list) {
    const std::string other = std::string(R"({"name":"other",)") + kFails;
    const std::string init = std::string(list) == "init" ? other : "";
    const std::string beside = std::string(list) == "beside" ? other + "," : "";
    return pod_with_status(std::string(R"({"phase":")") + phase + R"(","initContainerStatuses":[)" + init +
                           R"(],"containerStatuses":[)" + beside + R"({"name":"slurmd","state":{")" + slurmd +
                           R"(":{}}}]})");
  };
  for (const char* list : {"init", "beside"}) {
    for (const char* phase : {"Running", "Pending"}) {
      const Pod running = pod(phase, "running", list);
      if (running.start_problem.kind != Kind::none || !running.running) fail_msg("%s, %s", list, phase);
    }
    assert_true(pod("Pending", "waiting", list).start_problem.kind == Kind::failing);
    assert_false(pod("Pending", "waiting", list).running);
  }
}

void keeps_texts_to_one_short_line(void**) {
  const std::string text =
      pod_with_status(R"({"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"CreateContainerError",
                          "message":"a\nb )" +
                      std::string(10000, 'x') + R"("}}}]})")
          .start_problem.text;
  assert_int_equal(text.size(), 240);
  assert_contains(text, "CreateContainerError: a b xxx");
  assert_text(text.substr(237), "...");
}

void says_how_it_ended(void**) {
  const auto terminated = [](const char* state) {
    return pod_with_status(
               std::string(R"({"phase":"Failed","containerStatuses":[{"name":"slurmd","state":{"terminated":)") +
               state + "}}]}")
        .ended;
  };
  assert_text(terminated(R"({"reason":"OOMKilled","exitCode":137})"), "OOMKilled");
  assert_text(terminated(R"({"reason":"Error","exitCode":3})"), "slurmd ended with exit code 3");
  assert_text(
      terminated(R"({"reason":"Error","exitCode":1,"message":"slurmd: a\nslurmd: fatal: clone: not permitted\n"})"),
      "slurmd ended with exit code 1: fatal: clone: not permitted");
  assert_text(pod_with_status(R"({"phase":"Failed","reason":"Evicted"})").ended, "Evicted");
  assert_text(pod_with_status(R"({"phase":"Failed","reason":"Evicted","message":"too\nmuch"})").ended,
              "Evicted: too much");
  assert_text(pod_with_status(R"({"phase":"Succeeded"})").ended, "Succeeded");
  // The Kubernetes node is gone: nobody saw how slurmd ended.
  assert_text(
      pod_with_status(R"({"phase":"Failed","containerStatuses":[{"name":"slurmd","state":{"running":{}}}]})").ended,
      "Failed");
  assert_text(
      pod_with_status(R"({"phase":"Failed","containerStatuses":[{"name":"slurmd","state":{"running":{}}}],"conditions":[
        {"type":"Ready","status":"False","reason":"No"},{"type":"DisruptionTarget","status":"True",
         "reason":"DeletionByPodGC","message":"PodGC: node no longer exists"}]})")
          .ended,
      "DeletionByPodGC: PodGC: node no longer exists");
}

void says_whether_slurmd_ended_by_itself(void**) {
  const auto container = [](const char* terminated) {
    return std::string(R"("containerStatuses":[{"name":"slurmd","state":{"terminated":)") + terminated + "}}]}";
  };
  const struct {
    std::string status;
    SlurmdEnd end;
  } cases[] = {
      {R"({"phase":"Failed",)" + container(R"({"reason":"Error","exitCode":1})"), SlurmdEnd::error},
      {R"({"phase":"Failed",)" + container(R"({"reason":"Error","exitCode":139})"), SlurmdEnd::error},
      {R"({"phase":"Failed",)" + container(R"({"reason":"OOMKilled","exitCode":137})"), SlurmdEnd::out_of_memory},
      {R"({"phase":"Failed",)" + container(R"({"reason":"Error","exitCode":137})"), SlurmdEnd::other},
      {R"({"phase":"Failed",)" + container(R"({"reason":"Error","exitCode":143})"), SlurmdEnd::other},
      {R"({"phase":"Succeeded",)" + container(R"({"reason":"Completed","exitCode":0})"), SlurmdEnd::other},
      {R"({"phase":"Failed",)" + container(R"({"reason":"Unknown","exitCode":255})"), SlurmdEnd::other},
      {R"({"phase":"Failed",)" + container(R"({"reason":"ContainerStatusUnknown","exitCode":137})"), SlurmdEnd::other},
      {R"({"phase":"Failed",)" + container(R"({"reason":"StartError","exitCode":128})"), SlurmdEnd::other},
      {R"({"phase":"Failed",)" + container(R"({"reason":"Error","exitCode":255})"), SlurmdEnd::error},
      {R"({"phase":"Failed","reason":"Evicted",)" + container(R"({"reason":"Error","exitCode":1})"), SlurmdEnd::other},
      {R"({"phase":"Failed","reason":"Evicted","message":"The node was low on resource: ephemeral-storage. "})",
       SlurmdEnd::other},
      {R"({"phase":"Failed","reason":"Evicted",
           "message":"Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. "})",
       SlurmdEnd::error},
      {R"({"phase":"Failed","reason":"Evicted",
           "message":"Container slurmd exceeded its local ephemeral storage limit \"1Gi\". "})",
       SlurmdEnd::error},
      {R"({"phase":"Failed","reason":"Evicted",
           "message":"Usage of EmptyDir volume \"tmp\" exceeds the limit \"1Gi\". "})",
       SlurmdEnd::error},
      {R"({"phase":"Failed","reason":"NodeShutdown","message":"Usage of EmptyDir volume"})", SlurmdEnd::other},
      {R"({"phase":"Running",)" + container(R"({"reason":"Error","exitCode":1})"), SlurmdEnd::error},
      {R"({"phase":"Running",)" + container(R"({"reason":"OOMKilled","exitCode":137})"), SlurmdEnd::out_of_memory},
      {R"({"phase":"Failed","containerStatuses":[{"name":"sidecar","state":{"terminated":{"exitCode":1}}}]})",
       SlurmdEnd::other},
      {R"({"phase":"Failed"})", SlurmdEnd::other},
  };
  for (const auto& row : cases) {
    if (pod_with_status(row.status).slurmd_end != row.end) fail_msg("%s", row.status.c_str());
  }
}

/** kubelet does not restart it, and the pod is not over: no other sign of it comes. */
void slurmd_ended_beside_a_container_that_runs(void**) {
  constexpr const char* kEnded = R"(,"containerStatuses":[{"name":"slurmd","state":{"terminated":{"exitCode":3}}},)";
  const std::string beside[] = {R"({"name":"other","state":{"running":{}}}]})",
                                R"({"name":"other","state":{"waiting":{"reason":"ErrImagePull"}}}]})"};
  for (const char* phase : {R"({"phase":"Running")", R"({"phase":"Pending")"}) {
    for (const std::string& other : beside) {
      const Pod pod = pod_with_status(phase + (kEnded + other));
      assert_text(pod.ended, "slurmd ended with exit code 3");
      assert_false(pod.running);
      assert_true(pod.start_problem.kind == Kind::none);
    }
  }
  const Pod pod = pod_with_status(R"({"phase":"Running","containerStatuses":[
      {"name":"slurmd","state":{"running":{}}},{"name":"other","state":{"terminated":{"exitCode":1}}}]})");
  assert_text(pod.ended, "");
  assert_true(pod.running);
}

void a_deleted_pod_did_not_end_by_itself(void**) {
  const auto object = Json::parse(R"({"metadata":{"name":"c-0","deletionTimestamp":"2026-01-01T00:00:00Z"},"status":
      {"phase":"Failed","containerStatuses":[{"name":"slurmd","state":{"terminated":{"exitCode":1}}}]}})");
  assert_true(decode_pod(*object).slurmd_end == SlurmdEnd::other);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_the_metadata),
      SLURMK8S_TEST(says_what_keeps_a_pod),
      SLURMK8S_TEST(says_what_hinders),
      SLURMK8S_TEST(what_fails_beside_slurmd_is_no_start_problem),
      SLURMK8S_TEST(keeps_texts_to_one_short_line),
      SLURMK8S_TEST(says_how_it_ended),
      SLURMK8S_TEST(says_whether_slurmd_ended_by_itself),
      SLURMK8S_TEST(slurmd_ended_beside_a_container_that_runs),
      SLURMK8S_TEST(a_deleted_pod_did_not_end_by_itself),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
