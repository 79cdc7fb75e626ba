// SPDX-License-Identifier: GPL-2.0-or-later
// nss/wait_budget: how long lookups may wait, one by one and all together.
#include "nss/wait_budget.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr TimePoint kStart = TimePoint(std::chrono::hours(1));

void one_lookup_has_a_share(void**) {
  WaitBudget budget;
  assert_true(budget.take(kStart) == milliseconds(200));
  assert_true(budget.take(kStart) == milliseconds(200));
  assert_true(budget.take(kStart) == milliseconds(0));
}

void unused_time_is_returned(void**) {
  WaitBudget budget;
  for (int i = 0; i < 1000; i++) {
    assert_true(budget.take(kStart) == milliseconds(200));
    budget.give_back(milliseconds(200));
  }
  budget.give_back(std::chrono::hours(1));
  assert_true(budget.take(kStart) + budget.take(kStart) + budget.take(kStart) == milliseconds(400));
}

/** However slow the answers are: a tenth of the time, and what there was at the beginning. */
void a_tenth_of_the_time(void**) {
  WaitBudget budget;
  TimePoint now = kStart;
  microseconds waited{0};
  while (now < kStart + std::chrono::seconds(100)) {
    const microseconds wait = budget.take(now);
    waited += wait;
    now += wait + milliseconds(1);
  }
  assert_in_range(waited.count(), 9'900'000, 10'600'000);
}

void a_clock_that_stands_or_jumps(void**) {
  WaitBudget budget;
  (void)budget.take(kStart);
  (void)budget.take(kStart);
  assert_true(budget.take(kStart - std::chrono::hours(1)) == milliseconds(0));
  assert_true(budget.take(kStart + std::chrono::hours(9999)) == milliseconds(200));
  assert_true(budget.take(kStart + std::chrono::hours(9999)) == milliseconds(200));
  assert_true(budget.take(kStart + std::chrono::hours(9999)) == milliseconds(0));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(one_lookup_has_a_share), SLURMK8S_TEST(unused_time_is_returned),
                              SLURMK8S_TEST(a_tenth_of_the_time), SLURMK8S_TEST(a_clock_that_stands_or_jumps)};
  return cmocka_run_group_tests_name("nss_wait_budget", tests, nullptr, nullptr);
}
