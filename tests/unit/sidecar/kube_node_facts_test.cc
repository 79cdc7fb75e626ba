// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/kube_node_facts: what is read of a Kubernetes node, and which taints are tolerated.
#include "sidecar/kube_node_facts.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

KubeNodeFacts decode(const char* text) { return decode_kube_node_facts(*Json::parse(text)); }

void a_kube_node_without_a_status_is_well(void**) { assert_true(decode("{}") == KubeNodeFacts{}); }

void reads_whether_it_is_cordoned(void**) {
  assert_true(decode(R"({"spec":{"unschedulable":true}})").cordoned);
  assert_false(decode(R"({"spec":{"unschedulable":false}})").cordoned);
}

void reads_whether_it_is_ready(void**) {
  const std::pair<const char*, bool> cases[] = {{"True", true}, {"False", false}, {"Unknown", false}};
  for (const auto& [status, ready] : cases) {
    const KubeNodeFacts kube_node = decode_kube_node_facts(
        *Json::parse(format(R"({"status":{"conditions":[{"type":"MemoryPressure","status":"True","reason":"Full"},)"
                            R"({"type":"Ready","status":"%s","reason":"KubeletSays"}]}})",
                            status)));
    assert_int_equal(kube_node.ready, ready);
    assert_string_equal(kube_node.why_not_ready.c_str(), ready ? "" : "KubeletSays");
  }
}

void reads_the_taints_that_somebody_set(void**) {
  const KubeNodeFacts kube_node =
      decode(R"({"spec":{"taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"},)"
             R"({"key":"gpu","value":"a100","effect":"NoSchedule"},{"key":"old","effect":"NoExecute"},)"
             R"({"key":"candidate","effect":"PreferNoSchedule"}]}})");
  assert_true(kube_node.taints == (std::vector<Taint>{{"gpu", "a100", "NoSchedule"}, {"old", "", "NoExecute"}}));
}

void reads_what_pods_can_have(void**) {
  const KubeNodeFacts kube_node = decode(R"({"status":{"allocatable":{"cpu":"3920m","memory":"1Gi"}}})");
  assert_true(kube_node.allocatable == (Resources{3920, 1 << 30}));
}

void reads_labels(void**) {
  const KubeNodeFacts kube_node = decode(R"({"metadata":{"labels":{"gpu":"a100","empty":""}}})");
  assert_true(kube_node.labels == (std::map<std::string, std::string, std::less<>>{{"gpu", "a100"}, {"empty", ""}}));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_kube_node_without_a_status_is_well),
      SLURMK8S_TEST(reads_whether_it_is_cordoned),
      SLURMK8S_TEST(reads_whether_it_is_ready),
      SLURMK8S_TEST(reads_the_taints_that_somebody_set),
      SLURMK8S_TEST(reads_labels),
      SLURMK8S_TEST(reads_what_pods_can_have),
  };
  return cmocka_run_group_tests_name("sidecar_kube_node_facts", tests, nullptr, nullptr);
}
