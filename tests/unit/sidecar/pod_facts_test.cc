// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/pod_facts: what is read of a pod.
#include "sidecar/pod_facts.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void reads_a_pod(void**) {
  const auto pod = Json::parse(R"({"metadata":{"name":"c-0","uid":"u-1","deletionTimestamp":"2026-01-01T00:00:00Z",)"
                               R"("labels":{"slurm-k8s.io/template-hash":"1-abc"},)"
                               R"("annotations":{"controller.kubernetes.io/pod-deletion-cost":"-7"}},)"
                               R"("spec":{"nodeName":"worker-3"},"status":{"phase":"Running"}})");
  const PodFacts expected{.uid = "u-1",
                          .phase = PodFacts::Phase::running,
                          .deleting = true,
                          .kube_node = "worker-3",
                          .template_hash = "1-abc",
                          .deletion_cost = -7};
  assert_true(decode_pod_facts(*pod) == expected);
  assert_true(decode_pod_facts(Json::object()) == PodFacts{});
}

void reads_phases(void**) {
  const std::pair<const char*, PodFacts::Phase> cases[] = {
      {"Pending", PodFacts::Phase::pending}, {"Running", PodFacts::Phase::running}, {"Failed", PodFacts::Phase::ended},
      {"Succeeded", PodFacts::Phase::ended}, {"Unknown", PodFacts::Phase::pending},
  };
  for (const auto& [text, phase] : cases) {
    const auto pod = Json::parse(format(R"({"status":{"phase":"%s"}})", text));
    assert_true(decode_pod_facts(*pod).phase == phase);
  }
}

void takes_no_number_for_zero(void**) {
  const std::pair<const char*, std::int32_t> cases[] = {
      {"100", 100},
      {"-2147483648", -2147483647 - 1},
      {"2147483647", 2147483647},
      {"", 0},
      {"ten", 0},
      {"2147483648", 0},
      {"1.5", 0},
      {"99999999999999999999", 0},
      {" 1", 0},
  };
  for (const auto& [text, cost] : cases) {
    const auto pod = Json::parse(
        format(R"({"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"%s"}}})", text));
    assert_int_equal(decode_pod_facts(*pod).deletion_cost, cost);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_a_pod),
      SLURMK8S_TEST(reads_phases),
      SLURMK8S_TEST(takes_no_number_for_zero),
  };
  return cmocka_run_group_tests_name("sidecar_pod_facts", tests, nullptr, nullptr);
}
