// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/taint: which taints count, and which of them a pod tolerates.
#include "nodeset/taint.hpp"

#include <utility>
#include <vector>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void taints_of_kubernetes_do_not_count(void**) {
  const Json kube_node = *Json::parse(
      R"({"spec": {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
                              {"key": "gpu", "value": "a100", "effect": "NoSchedule"},
                              {"key": "old", "effect": "NoExecute"}, {"key": "may", "effect": "PreferNoSchedule"}]}})");
  assert_true(decode_taints(kube_node) ==
              (std::vector<Taint>{{"gpu", "a100", "NoSchedule"}, {"old", "", "NoExecute"}}));
  const Json tolerations = *Json::parse(
      R"([{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
          {"key": "gpu", "value": "a100", "effect": "NoSchedule"}])");
  assert_true(decode_tolerations(tolerations) == (std::vector<Toleration>{{"gpu", "a100", "NoSchedule", false}}));
}

void tolerates_as_kubernetes_does(void**) {
  const Taint taint{"gpu", "a100", "NoSchedule"};
  const std::pair<const char*, bool> cases[] = {
      {"[]", false},
      {"null", false},
      {R"([{"operator":"Exists"}])", true},
      {R"([{"operator":"Exists","effect":"NoExecute"}])", false},
      {R"([{"key":"gpu","operator":"Exists"}])", true},
      {R"([{"key":"cpu","operator":"Exists"}])", false},
      {R"([{"key":"gpu","operator":"Exists","effect":"NoSchedule"}])", true},
      {R"([{"key":"gpu","value":"a100"}])", true},
      {R"([{"key":"gpu","operator":"Equal","value":"a100","effect":"NoSchedule"}])", true},
      {R"([{"key":"gpu","operator":"Equal","value":"h100"}])", false},
      {R"([{"key":"gpu"}])", false},
      {R"([{"value":"a100"}])", false},
      {R"([{"key":"cpu","operator":"Exists"},{"key":"gpu","operator":"Exists"}])", true},
  };
  for (const auto& [tolerations, tolerated] : cases) {
    if (is_tolerated(taint, decode_tolerations(*Json::parse(tolerations))) != tolerated) fail_msg("%s", tolerations);
  }
}

void the_first_that_is_not_tolerated(void**) {
  const std::vector<Taint> taints{{"gpu", "", "NoSchedule"}, {"old", "", "NoExecute"}};
  assert_string_equal(find_untolerated(taints, {})->key.c_str(), "gpu");
  assert_string_equal(find_untolerated(taints, {{"gpu", "", "", true}})->key.c_str(), "old");
  assert_null(find_untolerated(taints, {{"", "", "", true}}));
  assert_null(find_untolerated({}, {}));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(taints_of_kubernetes_do_not_count),
      SLURMK8S_TEST(tolerates_as_kubernetes_does),
      SLURMK8S_TEST(the_first_that_is_not_tolerated),
  };
  return cmocka_run_group_tests_name("nodeset_taint", tests, nullptr, nullptr);
}
