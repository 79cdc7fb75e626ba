// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/tolerations: those of the file of --users.
#include "bridge/tolerations.hpp"

#include <vector>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void reads_them(void**) {
  assert_true(parse_bridge_tolerations("")->empty());
  assert_true(parse_bridge_tolerations("users: []\n")->empty());
  assert_true(
      *parse_bridge_tolerations("tolerations:\n"
                                "  - {key: slurm, operator: Exists, effect: NoSchedule}\n"
                                "  - {key: pool, value: gpu}\n"
                                "  - {operator: Exists}\n") ==
      (std::vector<Toleration>{{"slurm", "", "NoSchedule", true}, {"pool", "gpu", "", false}, {"", "", "", true}}));
}

void names_the_field_that_is_wrong(void**) {
  const struct {
    const char* yaml;
    const char* error;
  } cases[] = {
      {"tolerations: [{key: a}, {key: b, operator: In}]", "tolerations[1].operator: Unsupported value: \"In\""},
      {"tolerations: [{key: a, effect: NoExecute}]", "tolerations[0].effect: Unsupported value: \"NoExecute\""},
      {"tolerations: [{value: a}]", "tolerations[0].key: Required value"},
  };
  for (const auto& c : cases) assert_error(parse_bridge_tolerations(c.yaml), Errc::invalid, c.error);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reads_them),
      SLURMK8S_TEST(names_the_field_that_is_wrong),
  };
  return cmocka_run_group_tests_name("bridge_tolerations", tests, nullptr, nullptr);
}
