// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/power_up_pace: nodes that die again and again.
#include "sidecar/power_up_pace.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;
constexpr TimePoint kStart = TimePoint(std::chrono::hours(1));

bool is_held(const PowerUpPace& pace, TimePoint now) { return pace.held(now).nodes.contains("c-0"); }

void holds_a_node_back_longer_each_time(void**) {
  PowerUpPace pace([] { return 1.0; });
  assert_false(is_held(pace, kStart));
  TimePoint now = kStart;
  for (const int wait : {10, 20, 40, 80, 160, 300, 300}) {  // it dies at once each time
    pace.powered_up("c-0", now);
    assert_true(is_held(pace, now + seconds(wait) - std::chrono::milliseconds(1)));
    assert_false(is_held(pace, now + seconds(wait)));
    assert_true(*pace.held(now).until == now + seconds(wait));
    now += seconds(wait);
  }
  pace.powered_up("c-0", now + seconds(119));  // after 300 s more, it had been up for 119
  assert_true(is_held(pace, now + seconds(300)));
}

void nodes_of_one_failure_come_back_one_after_the_other(void**) {
  double jitter = 0;
  PowerUpPace pace([&jitter] { return jitter; });
  pace.powered_up("c-0", kStart);
  jitter = 0.5;
  pace.powered_up("c-1", kStart);
  assert_int_equal(pace.held(kStart + seconds(4)).nodes.size(), 2);
  assert_int_equal(pace.held(kStart + seconds(5)).nodes.size(), 1);
  assert_int_equal(pace.held(kStart + seconds(8)).nodes.size(), 0);
}

void begins_again_after_a_steady_time(void**) {
  PowerUpPace pace([] { return 1.0; });
  pace.powered_up("c-0", kStart);
  pace.powered_up("c-0", kStart + seconds(10));  // 20 s
  const TimePoint later = kStart + seconds(30) + seconds(120);
  pace.powered_up("c-0", later);
  assert_true(is_held(pace, later + seconds(9)));
  assert_false(is_held(pace, later + seconds(10)));
}

void forgets_a_node_that_was_taken_away(void**) {
  PowerUpPace pace([] { return 1.0; });
  pace.powered_up("c-0", kStart);
  pace.powered_up("c-1", kStart);
  pace.forget("c-0");
  assert_false(is_held(pace, kStart));
  assert_int_equal(pace.held(kStart).nodes.size(), 1);
  pace.forget("c-1");
  assert_false(pace.held(kStart).until.has_value());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(holds_a_node_back_longer_each_time),
      SLURMK8S_TEST(nodes_of_one_failure_come_back_one_after_the_other),
      SLURMK8S_TEST(begins_again_after_a_steady_time),
      SLURMK8S_TEST(forgets_a_node_that_was_taken_away),
  };
  return cmocka_run_group_tests_name("sidecar_power_up_pace", tests, nullptr, nullptr);
}
