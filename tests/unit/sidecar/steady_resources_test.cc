// SPDX-License-Identifier: GPL-2.0-or-later
// R6: sidecar/steady_resources: less counts at once, more after a minute.
#include "sidecar/steady_resources.hpp"

#include <vector>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

constexpr TimePoint kStart{};

void grows_late(void**) {
  struct Look {
    int second;
    std::int64_t amount;
    std::int64_t value;
  };
  const std::vector<Look> cases[] = {
      {{0, 4, 4}, {1, 2, 2}, {2, 3, 2}, {61, 3, 2}, {62, 3, 3}},
      // It has to stay for the whole minute.
      {{0, 2, 2}, {1, 4, 2}, {50, 2, 2}, {51, 4, 2}, {61, 4, 2}, {110, 4, 2}, {111, 4, 4}},
      // Less than the largest has been there for the minute.
      {{0, 2, 2}, {1, 5, 2}, {30, 4, 2}, {31, 5, 2}, {61, 5, 4}, {62, 5, 4}, {120, 5, 4}, {121, 5, 5}},
      // Shrinks again before it has grown.
      {{0, 4, 4}, {1, 6, 4}, {2, 3, 3}, {61, 3, 3}},
  };
  for (const auto& looks : cases) {
    SteadyAmount steady(looks.front().amount);
    for (const auto& [second, amount, value] : looks) {
      steady.observe(amount, kStart + seconds(second));
      if (steady.value() != value) fail_msg("second %d of %zu looks", second, looks.size());
    }
  }
}

void keeps_kube_nodes_apart(void**) {
  SteadyResources steady;
  assert_true(steady.observe({{"m1", {4000, 100}}, {"m2", {2000, 100}}}, kStart));
  assert_false(steady.observe({{"m1", {5000, 100}}, {"m2", {2000, 200}}}, kStart + seconds(1)));
  assert_true(steady.observe({{"m1", {5000, 50}}, {"m2", {1000, 200}}}, kStart + seconds(2)));
  assert_true(steady.by_kube_node() == (ResourcesByKubeNode{{"m1", {4000, 50}}, {"m2", {1000, 100}}}));
  assert_true(steady.observe({{"m1", {5000, 50}}, {"m2", {1000, 200}}}, kStart + seconds(61)));
  assert_true(steady.by_kube_node() == (ResourcesByKubeNode{{"m1", {5000, 50}}, {"m2", {1000, 200}}}));
  // One that goes and comes back is a new one.
  assert_true(steady.observe({{"m2", {1000, 200}}}, kStart + seconds(62)));
  assert_true(steady.observe({{"m1", {8000, 50}}, {"m2", {1000, 200}}}, kStart + seconds(63)));
  assert_true(steady.by_kube_node().at("m1") == (Resources{8000, 50}));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(grows_late),
      SLURMK8S_TEST(keeps_kube_nodes_apart),
  };
  return cmocka_run_group_tests_name("sidecar_steady_resources", tests, nullptr, nullptr);
}
