// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/quantity: Kubernetes' quantities.
#include "nodeset/quantity.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void parses_quantities(void**) {
  const struct {
    const char* text;
    std::int64_t milli;  // -1: not a quantity
  } cases[] = {
      {"0", 0},
      {"2", 2000},
      {"+2", 2000},
      {"1500m", 1500},
      {"1.5", 1500},
      {"0.1", 100},
      {".5", 500},
      {"5.", 5000},
      {"1k", 1000000},
      {"1Ki", 1024000},
      {"1.5Gi", 1610612736000},
      {"1e3", 1000000},
      {"1E3", 1000000},
      {"15e-1", 1500},
      {"1E", -1},
      {"100u", 1},
      {"1n", 1},
      {"8Pi", 9007199254740992000},
      {"9Pi", -1},
      {"0.0001", 1},
      {"", -1},
      {"m", -1},
      {"-1", -1},
      {"1 ", -1},
      {"1x", -1},
      {"1.2.3", -1},
      {"1e", -1},
      {"1e99", -1},
      {"1mi", -1},
      {"0x10", -1},
      {"1234567890123456789", -1},
  };
  for (const auto& c : cases) {
    const auto milli = parse_quantity_milli(c.text);
    assert_int_equal(milli.ok() ? *milli : -1, c.milli);
    if (!milli.ok()) assert_contains(milli.error().message(), c.text);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(parses_quantities)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
