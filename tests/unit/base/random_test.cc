// SPDX-License-Identifier: GPL-2.0-or-later
// base/random: names and jitter.
#include "base/random.hpp"

#include <set>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void random_values(void**) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id();
    assert_int_equal(id.size(), 16);
    assert_true(id.find_first_not_of("0123456789abcdef") == std::string::npos);
    ids.insert(id);
    const double unit = random_unit();
    assert_true(unit >= 0.0 && unit < 1.0);
  }
  assert_int_equal(ids.size(), 1000);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(random_values),
  };
  return cmocka_run_group_tests_name("base_random", tests, nullptr, nullptr);
}
