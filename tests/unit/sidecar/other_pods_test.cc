// SPDX-License-Identifier: GPL-2.0-or-later
// R6: sidecar/other_pods: which pods take something of a Kubernetes node past Slurm, and how much.
#include "sidecar/other_pods.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

const PodOwners kOwners{"slurm", "bridge"};

Json pod(const std::string& name_space, const std::string& metadata, const std::string& spec) {
  return *Json::parse(R"({"metadata": {"namespace": ")" + name_space + R"(", "name": "p")" +
                      (metadata.empty() ? "" : ", " + metadata) + R"(}, "spec": {"nodeName": "m1", )" + spec + "}}");
}

constexpr const char* kTwoCpus =
    R"("containers": [{"name": "a", "resources": {"requests": {"cpu": 2, "memory": "8Mi"}}}])";

void pods_with_jobs_are_slurms(void**) {
  constexpr const char* kJob = R"("annotations": {"slurm-k8s.io/job-id": "7"})";
  constexpr const char* kLabel = R"("labels": {"slurm-k8s.io/bridge": "bridge"})";
  const struct {
    std::string metadata;
    const char* scheduler;
    bool is_slurms;
  } cases[] = {
      {"", "default-scheduler", false},
      {kJob, "bridge", true},
      {std::string(kJob) + ", " + kLabel, "default-scheduler", true},
      // Bound past the bridge.
      {"", "bridge", false},
      {kLabel, "default-scheduler", false},
      // Anybody can say so.
      {kJob, "default-scheduler", false},
      // Of another bridge.
      {kJob, "other", false},
      {std::string(kJob) + R"(, "labels": {"slurm-k8s.io/bridge": "other"})", "default-scheduler", false},
  };
  for (const auto& [metadata, scheduler, is_slurms] : cases) {
    const Json object = pod("a", metadata, R"("schedulerName": ")" + std::string(scheduler) + "\", " + kTwoCpus);
    if (has_slurm_job(object, kOwners) != is_slurms) fail_msg("%s, %s", metadata.c_str(), scheduler);
    assert_false(has_slurm_job(object, {"slurm", ""}));
  }
}

void nodes_pods_count_with_their_limits(void**) {
  constexpr const char* kNode = R"("labels": {"slurm-k8s.io/node": "c-0"})";
  constexpr const char* kSlurmd =
      R"("containers": [{"name": "slurmd", "resources": {"requests": {"cpu": "50m", "memory": "8Mi"},
                                                         "limits": {"cpu": 4, "memory": "1Gi"}}},
                        {"name": "b", "resources": {"requests": {"cpu": "50m"}, "limits": {"cpu": 9}}}])";
  assert_true(requests_of(pod("slurm", kNode, kSlurmd), kOwners) == (Resources{4000, 1 << 30}));
  assert_true(requests_of(pod("slurm", "", kSlurmd), kOwners) == (Resources{100, 8 << 20}));
  assert_true(requests_of(pod("a", kNode, kSlurmd), kOwners) == (Resources{100, 8 << 20}));
  // None can be so large that a sum overflows.
  const Json huge = pod("a", "", R"("containers": [{"resources": {"requests": {"cpu": "9e15", "memory": "7Pi"}}}])");
  assert_true(requests_of(huge, kOwners) == (Resources{std::int64_t{1} << 45, std::int64_t{1} << 45}));
}

void sums_follow_pods(void**) {
  OtherPods pods(kOwners);
  const auto on_m1 = [&pods] { return pods.requested_on("m1"); };
  const auto named = [](const char* name, Json object) {
    Json metadata = object["metadata"];
    metadata.set("name", name);
    return object;
  };
  pods.upsert(named("a", pod("x", "", kTwoCpus)));
  pods.upsert(named("b", pod("x", "", kTwoCpus)));
  pods.upsert(named("a", pod("y", "", kTwoCpus)));
  assert_true(on_m1() == (Resources{6000, 24 << 20}));
  assert_true(pods.requested_on("m2") == Resources{});
  // A resize; a pod without a Kubernetes node; one that gets its job.
  pods.upsert(named("b", pod("x", "", R"("containers": [{"resources": {"requests": {"cpu": 1}}}])")));
  assert_true(on_m1() == (Resources{5000, 16 << 20}));
  pods.upsert(*Json::parse(R"({"metadata": {"namespace": "x", "name": "b"}, "spec": {}})"));
  assert_true(on_m1() == (Resources{4000, 16 << 20}));
  pods.upsert(named("a", pod("y", R"("annotations": {"slurm-k8s.io/job-id": "7"})",
                             R"("schedulerName": "bridge", )" + std::string(kTwoCpus))));
  assert_true(on_m1() == (Resources{2000, 8 << 20}));
  assert_int_equal(pods.size(), 1);
  pods.remove({"x", "unknown"});
  pods.remove({"x", "a"});
  assert_true(on_m1() == Resources{});
  pods.upsert(named("a", pod("x", "", kTwoCpus)));
  pods.clear();
  assert_true(on_m1() == Resources{});
  assert_int_equal(pods.size(), 0);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(pods_with_jobs_are_slurms),
      SLURMK8S_TEST(nodes_pods_count_with_their_limits),
      SLURMK8S_TEST(sums_follow_pods),
  };
  return cmocka_run_group_tests_name("sidecar_other_pods", tests, nullptr, nullptr);
}
