// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/submit_pause: how long no job is submitted.
#include "bridge/submit_pause.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

/** Seconds until it is over. */
int left_of(const SubmitPause& pause, TimePoint now) {
  int left = 0;
  while (!pause.is_over(now + seconds(left))) ++left;
  return left;
}

void each_is_twice_as_long_as_the_one_before(void**) {
  const struct {
    int wait;  // since the last failure
    bool answers;
    int left;
  } cases[] = {{0, true, 5},   {5, true, 10},  {10, true, 20}, {1, true, 19}, {19, true, 40},
               {40, true, 60}, {60, true, 60}, {60, false, 5}, {5, false, 5}, {5, true, 10}};
  SubmitPause pause;
  TimePoint now{seconds(100)};
  for (const auto& c : cases) {
    now += seconds(c.wait);
    pause.begin(now, c.answers ? now : TimePoint{}, "why");
    assert_int_equal(left_of(pause, now), c.left);
  }
  assert_text(pause.why(), "why");
}

void it_ends_with_a_job(void**) {
  SubmitPause pause;
  const TimePoint now{seconds(100)};
  for (const int left : {5, 10}) {
    pause.begin(now + seconds(left - 5), now + seconds(left - 5), "why");
    assert_int_equal(left_of(pause, now + seconds(left - 5)), left);
  }
  pause.end();
  assert_true(pause.is_over(now));
  pause.begin(now, now, "again");
  assert_int_equal(left_of(pause, now), 5);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(each_is_twice_as_long_as_the_one_before),
      SLURMK8S_TEST(it_ends_with_a_job),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
