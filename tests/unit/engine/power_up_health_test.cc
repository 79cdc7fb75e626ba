// SPDX-License-Identifier: GPL-2.0-or-later
// PowerUpHealth: how long failed nodes back off.
#include "engine/power_up_health.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

constexpr TimePoint kStart{1h};

void holds_longer_each_time(void**) {
  PowerUpHealth health;
  const int expected[] = {10, 20, 40, 80, 160, 320, 600, 600};
  TimePoint now = kStart;
  for (const int seconds : expected) {
    assert_true(health.failed(now, 1) == std::chrono::seconds(seconds));
    now += 60s;
  }
}

void pods_of_one_job_fail_once(void**) {
  PowerUpHealth health;
  for (int i = 0; i < 8; ++i) assert_true(health.failed(kStart + i * 100ms, 1) == 10s);
  assert_false(health.is_protected());
}

void nodes_of_one_failure_come_back_one_after_the_other(void**) {
  PowerUpHealth health;
  assert_true(health.failed(kStart, 0) == 5s);
  assert_true(health.failed(kStart, 0.5) == 7500ms);
}

void protects_after_failures_in_a_row(void**) {
  PowerUpHealth health;
  health.failed(kStart, 1);
  health.failed(kStart + 20s, 1);
  assert_false(health.is_protected());
  health.succeeded(kStart + 10s);  // resumed before the last failure: says nothing about now
  health.failed(kStart + 60s, 1);
  assert_true(health.is_protected());
  health.succeeded(kStart + 61s);
  assert_false(health.is_protected());
  assert_true(health.failed(kStart + 120s, 1) == 10s);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(holds_longer_each_time),
      SLURMK8S_TEST(pods_of_one_job_fail_once),
      SLURMK8S_TEST(nodes_of_one_failure_come_back_one_after_the_other),
      SLURMK8S_TEST(protects_after_failures_in_a_row),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
