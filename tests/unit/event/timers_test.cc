// SPDX-License-Identifier: GPL-2.0-or-later
// event/timers: order, cancelling, timers that make and cancel timers.
#include "event/timers.hpp"

#include <limits>
#include <string>

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;

void run_in_order_of_time_then_of_making(void**) {
  FakeClock clock;
  Timers timers(clock);
  std::string order;
  timers.after(milliseconds(20), [&] { order += 'c'; });
  timers.after(milliseconds(10), [&] { order += 'a'; });
  timers.after(milliseconds(10), [&] { order += 'b'; });
  timers.run_due();
  assert_text(order, "");
  clock.advance(milliseconds(10));
  timers.run_due();
  assert_text(order, "ab");
  clock.advance(milliseconds(100));
  timers.run_due();
  timers.run_due();
  assert_text(order, "abc");
}

void next_is_rounded_up(void**) {
  FakeClock clock;
  Timers timers(clock);
  assert_false(timers.until_next().has_value());
  const auto id = timers.after(milliseconds(10), [] {});
  assert_int_equal(timers.until_next()->count(), 10);
  clock.advance(std::chrono::microseconds(9001));
  assert_int_equal(timers.until_next()->count(), 1);
  clock.advance(milliseconds(5));
  assert_int_equal(timers.until_next()->count(), 0);
  timers.cancel(id);
  assert_false(timers.until_next().has_value());
}

void cancelled_ones_do_not_run(void**) {
  FakeClock clock;
  Timers timers(clock);
  int ran = 0;
  const auto first = timers.after(milliseconds(1), [&] { ++ran; });
  Timers::Id third = 0;
  timers.after(milliseconds(1), [&] {
    timers.cancel(third);
    timers.cancel(first);  // has run
  });
  third = timers.after(milliseconds(1), [&] { ran += 100; });
  timers.cancel(0);
  timers.cancel(12345);
  clock.advance(milliseconds(1));
  timers.run_due();
  assert_int_equal(ran, 1);
}

void one_made_while_running_waits_for_the_next_call(void**) {
  FakeClock clock;
  Timers timers(clock);
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    timers.after(milliseconds(0), again);
  };
  timers.after(milliseconds(0), again);
  timers.run_due();
  assert_int_equal(ran, 1);
  timers.run_due();
  assert_int_equal(ran, 2);
}

void may_cancel_itself(void**) {
  FakeClock clock;
  Timers timers(clock);
  Timers::Id id = 0;
  const std::string owned(100, 'x');
  std::size_t seen = 0;
  id = timers.after(milliseconds(0), [&timers, &id, &seen, owned] {
    timers.cancel(id);
    seen = owned.size();  // what it captured is still there
  });
  timers.run_due();
  assert_int_equal(seen, 100);
}

void odd_delays(void**) {
  FakeClock clock;
  Timers timers(clock);
  int ran = 0;
  timers.after(milliseconds(-5), [&] { ++ran; });
  timers.after(milliseconds::max(), [&] { ran += 100; });
  timers.run_due();
  assert_int_equal(ran, 1);
  clock.advance(std::chrono::hours(24 * 365));
  timers.run_due();
  assert_int_equal(ran, 1);
}

void ids_are_never_used_again(void**) {
  FakeClock clock;
  Timers timers(clock);
  const auto first = timers.after(milliseconds(0), [] {});
  timers.run_due();
  const auto second = timers.after(milliseconds(0), [] {});
  assert_true(first != 0 && second != 0 && first != second);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(run_in_order_of_time_then_of_making),
      SLURMK8S_TEST(next_is_rounded_up),
      SLURMK8S_TEST(cancelled_ones_do_not_run),
      SLURMK8S_TEST(one_made_while_running_waits_for_the_next_call),
      SLURMK8S_TEST(may_cancel_itself),
      SLURMK8S_TEST(odd_delays),
      SLURMK8S_TEST(ids_are_never_used_again),
  };
  return cmocka_run_group_tests_name("event_timers", tests, nullptr, nullptr);
}
