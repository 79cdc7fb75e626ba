// SPDX-License-Identifier: GPL-2.0-or-later
// R6: sidecar/allocatable: from what is left of a Kubernetes node to the size of its external node.
#include "sidecar/allocatable.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

constexpr std::int64_t kMebi = 1024 * 1024;

void reads_allocatable(void**) {
  const Json node =
      *Json::parse(R"({"status": {"capacity": {"cpu": "9"}, "allocatable": {"cpu": "3920m", "memory": "15Gi"}}})");
  assert_true(decode_allocatable(node) == (Resources{3920, 15 * 1024 * kMebi}));
  assert_true(decode_allocatable(*Json::parse(R"({"status": {"allocatable": {"cpu": "many"}}})")) == Resources{});
}

void subtracts_down_to_nothing(void**) {
  assert_true(subtract({4000, 100}, {1500, 40}) == (Resources{2500, 60}));
  assert_true(subtract({4000, 100}, {4001, 101}) == Resources{});
}

NodeSet external(NodeSize maximum, std::uint32_t cpu_multiple = 1) {
  NodeSet nodeset;
  nodeset.scaling_mode = ScalingMode::external;
  nodeset.size = maximum;
  nodeset.memory_reserve = 64 * kMebi;
  nodeset.cpu_multiple = cpu_multiple;
  return nodeset;
}

void fits_what_is_left(void**) {
  constexpr NodeSize kAny{65000, 1 << 30};
  const struct {
    NodeSet nodeset;
    Resources left;
    std::optional<NodeSize> size;
  } cases[] = {
      {external(kAny), {4000, 1000 * kMebi}, NodeSize{4, 936}},
      {external(kAny), {3999, 1000 * kMebi - 1}, NodeSize{3, 935}},
      {external({2, 900}), {4000, 1000 * kMebi}, NodeSize{2, 900}},
      {external({8, 2000}), {4000, 1000 * kMebi}, NodeSize{4, 936}},
      {external({2, 2000}), {4000, 1000 * kMebi}, NodeSize{2, 936}},
      {external(kAny), {1000, 65 * kMebi}, NodeSize{1, 1}},
      {external(kAny), {999, 1000 * kMebi}, std::nullopt},
      {external(kAny), {1000, 65 * kMebi - 1}, std::nullopt},
      {external(kAny), {}, std::nullopt},
      {external(kAny, 4), {7999, 1000 * kMebi}, NodeSize{4, 936}},
      {external({6, 900}, 4), {8000, 1000 * kMebi}, NodeSize{4, 900}},
      {external(kAny, 4), {3999, 1000 * kMebi}, std::nullopt},
  };
  for (std::size_t i = 0; i < std::size(cases); i++) {
    if (fit_size(cases[i].nodeset, cases[i].left) != cases[i].size) fail_msg("case %zu", i);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_allocatable),
      SLURMK8S_TEST(subtracts_down_to_nothing),
      SLURMK8S_TEST(fits_what_is_left),
  };
  return cmocka_run_group_tests_name("sidecar_allocatable", tests, nullptr, nullptr);
}
