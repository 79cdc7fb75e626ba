// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/suspend_exemptions: what of SuspendExcNodes is ours.
#include "sidecar/suspend_exemptions.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void update(SuspendExemptions& exemptions, const char* nodes) { exemptions.update({.suspend_exc_nodes = nodes}); }

void knows_who_is_covered(void**) {
  SuspendExemptions exemptions;
  assert_false(exemptions.can_change());
  update(exemptions, "a-[1-2],gpu");
  assert_true(exemptions.can_change());
  assert_true(exemptions.covers("a", "a-1"));
  assert_false(exemptions.covers("a", "a-3"));
  assert_true(exemptions.covers("gpu", "gpu-7"));
  update(exemptions, "");
  assert_true(exemptions.can_change());
  assert_false(exemptions.covers("a", "a-1"));
}

void leaves_what_it_can_not_change(void**) {
  SuspendExemptions exemptions;
  for (const char* nodes : {"a-[0-9]:2", "a-[0-9]:2,b-1", "a-[1"}) {
    update(exemptions, nodes);
    assert_false(exemptions.can_change());
  }
  exemptions.update({});
  assert_false(exemptions.can_change());
}

void remembers_what_it_added(void**) {
  SuspendExemptions exemptions;
  update(exemptions, "a-1");
  exemptions.added("a", "a-[2-4]");
  assert_int_equal(exemptions.ours().size(), 3);
  assert_true(exemptions.covers("a", "a-4"));
  exemptions.removed("a-3");
  assert_false(exemptions.covers("a", "a-3"));
  // slurmctld was reconfigured, and somebody has put one of them into slurm.conf.
  update(exemptions, "a-[1-2]");
  assert_int_equal(exemptions.ours().size(), 1);
  assert_true(exemptions.ours().contains("a-2"));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(knows_who_is_covered),
      SLURMK8S_TEST(leaves_what_it_can_not_change),
      SLURMK8S_TEST(remembers_what_it_added),
  };
  return cmocka_run_group_tests_name("sidecar_suspend_exemptions", tests, nullptr, nullptr);
}
