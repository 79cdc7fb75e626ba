// SPDX-License-Identifier: GPL-2.0-or-later
// base/backoff: doubling, cap, jitter, overflow.
#include "base/backoff.hpp"

#include <limits>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;

constexpr auto kMax = std::numeric_limits<milliseconds::rep>::max();

void delays(void**) {
  const struct {
    milliseconds::rep first, cap;
    unsigned failures;
    double jitter;
    milliseconds::rep expected;
  } cases[] = {
      {200, 30000, 0, 0.5, 0},
      {200, 30000, 1, 0.0, 100},
      {200, 30000, 1, 0.5, 150},
      {200, 30000, 2, 0.0, 200},
      {200, 30000, 2, 0.5, 300},
      {200, 30000, 3, 0.0, 400},
      {200, 30000, 8, 0.0, 12800},
      {200, 30000, 9, 0.0, 15000},
      {200, 30000, 9, 0.5, 22500},
      {200, 30000, 32, 0.0, 15000},
      {200, 30000, 64, 0.0, 15000},
      {200, 30000, std::numeric_limits<unsigned>::max(), 0.0, 15000},
      {50, 20, 1, 0.0, 10},
      {0, 30000, 5, 0.9, 0},
      {-5, 30000, 5, 0.9, 0},
      {200, 0, 5, 0.9, 0},
      {200, -1, 5, 0.9, 0},
      {1, kMax, std::numeric_limits<unsigned>::max(), 0.0, kMax / 2},
      {1, 1, 3, 0.0, 0},
      {200, 30000, 1, -7.0, 100},
      {200, 30000, 1, 7.0, 200},
  };
  for (const auto& c : cases) {
    const Backoff backoff{milliseconds(c.first), milliseconds(c.cap)};
    assert_int_equal(backoff.delay(c.failures, c.jitter).count(), c.expected);
  }
}

void respects_retry_after(void**) {
  const Backoff backoff;
  assert_int_equal(backoff.delay(2, 0.5, std::nullopt).count(), 300);
  assert_int_equal(backoff.delay(2, 0.5, std::chrono::seconds(0)).count(), 300);
  assert_int_equal(backoff.delay(2, 0.5, std::chrono::seconds(7)).count(), 7000);
  assert_int_equal(backoff.delay(9, 0.5, std::chrono::seconds(7)).count(), 22500);
}

void stays_between_half_and_whole(void**) {
  const Backoff backoff;
  for (unsigned failures = 1; failures < 40; ++failures) {
    const auto least = backoff.delay(failures, 0.0);
    const auto most = backoff.delay(failures, 0.999999);
    assert_true(least >= milliseconds(100) && most <= backoff.cap && least < most && most <= 2 * least);
    assert_true(failures == 1 || least >= backoff.delay(failures - 1, 0.0));
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(delays), SLURMK8S_TEST(respects_retry_after),
                              SLURMK8S_TEST(stays_between_half_and_whole)};
  return cmocka_run_group_tests_name("base_backoff", tests, nullptr, nullptr);
}
