// SPDX-License-Identifier: GPL-2.0-or-later
// base/clock_watch: a time of day that is set back, ahead, or drifts.
#include "base/clock_watch.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

void set_back_is_reported_once(void**) {
  FakeClock clock;
  ClockWatch watch;
  assert_int_equal(watch.set_back(clock).count(), 0);
  clock.advance(std::chrono::seconds(100));
  assert_int_equal(watch.set_back(clock).count(), 0);
  clock.set_wall(std::chrono::seconds(-3600));
  clock.advance(std::chrono::seconds(5));
  assert_int_equal(watch.set_back(clock).count(), 3600);
  assert_int_equal(watch.set_back(clock).count(), 0);
}

void set_ahead_and_back_again(void**) {
  FakeClock clock;
  ClockWatch watch;
  watch.set_back(clock);
  clock.set_wall(std::chrono::hours(1));
  assert_int_equal(watch.set_back(clock).count(), 0);
  clock.set_wall(std::chrono::seconds(0));
  assert_int_equal(watch.set_back(clock).count(), 3600);
}

void a_fraction_is_rounded(void**) {
  FakeClock clock;
  ClockWatch watch;
  watch.set_back(clock);
  clock.set_wall(std::chrono::milliseconds(-400));
  assert_int_equal(watch.set_back(clock).count(), 0);
  clock.set_wall(std::chrono::milliseconds(-10399));
  assert_int_equal(watch.set_back(clock).count(), 10);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(set_back_is_reported_once),
      SLURMK8S_TEST(set_ahead_and_back_again),
      SLURMK8S_TEST(a_fraction_is_rounded),
  };
  return cmocka_run_group_tests_name("base_clock_watch", tests, nullptr, nullptr);
}
