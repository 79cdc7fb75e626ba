// SPDX-License-Identifier: GPL-2.0-or-later
// plugins/slurmctld/heartbeat: control with silence, other holders, and changes of the time of day.
#include "slurmctld/heartbeat.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

constexpr std::chrono::seconds kTimeout{10};

struct World {
  FakeClock clock;
  Heartbeat heartbeat;
  Heartbeat::Beat beat;

  void write(int holder) { beat = {std::chrono::system_clock::to_time_t(clock.wall()), holder}; }
  /** Once a second, as the engine polls. */
  bool is_held_after(int seconds, int self = 0) {
    for (int i = 0; i < seconds; ++i) {
      clock.advance(std::chrono::seconds(1));
      if (i + 1 < seconds) poll(self);
    }
    return poll(self);
  }
  bool poll(int self = 0) { return heartbeat.is_held_by(self, beat, kTimeout, clock); }
};

void who_writes_is_in_control(void**) {
  World world;
  assert_false(world.poll());  // nobody has ever written
  world.write(0);
  assert_true(world.is_held_after(2));
  assert_true(world.is_held_after(6));
  assert_false(world.is_held_after(6));
  world.write(0);
  assert_true(world.is_held_after(1));
  world.write(1);
  assert_false(world.is_held_after(1));
}

/** Nobody has taken over from one that cannot write: its jobs are its own. */
void a_silent_one_is_not_replaced(void**) {
  World world;
  assert_false(world.heartbeat.is_held_by_other(0));  // no beat yet
  world.write(0);
  assert_true(world.poll());
  assert_false(world.is_held_after(20));
  assert_false(world.heartbeat.is_held_by_other(0));
  world.beat = {};
  assert_false(world.poll());
  assert_false(world.heartbeat.is_held_by_other(0));
  world.write(0);
  assert_true(world.is_held_after(1));
  world.write(1);
  assert_false(world.is_held_after(1));
  assert_true(world.heartbeat.is_held_by_other(0));
}

void one_of_the_previous_slurmctld_is_as_old_as_it_says(void**) {
  World world;
  world.write(0);
  world.clock.advance(std::chrono::seconds(8));
  assert_true(world.poll());
  assert_true(world.is_held_after(2));
  assert_false(world.is_held_after(1));
}

void one_that_can_not_be_read(void**) {
  World world;
  world.write(0);
  assert_true(world.poll());
  world.beat = {};
  assert_true(world.is_held_after(10));
  assert_false(world.is_held_after(1));
}

void the_time_of_day_is_set(void**) {
  World world;
  world.write(0);
  assert_true(world.poll());
  for (const int hours : {1, 0, -1}) {
    world.clock.set_wall(std::chrono::hours(hours));
    assert_true(world.is_held_after(2));
    world.write(0);
    assert_true(world.is_held_after(9));
    world.write(0);
    assert_true(world.is_held_after(1));
  }
  assert_false(world.is_held_after(11));
}

/** A beat may have been written right after the previous poll. */
void no_poll_for_long(void**) {
  World world;
  world.write(0);
  assert_true(world.poll());
  world.clock.advance(std::chrono::seconds(60));
  world.write(0);
  world.clock.advance(std::chrono::seconds(60));
  assert_false(world.poll());
  world.write(0);
  assert_true(world.is_held_after(1));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(who_writes_is_in_control),
      SLURMK8S_TEST(a_silent_one_is_not_replaced),
      SLURMK8S_TEST(one_of_the_previous_slurmctld_is_as_old_as_it_says),
      SLURMK8S_TEST(one_that_can_not_be_read),
      SLURMK8S_TEST(the_time_of_day_is_set),
      SLURMK8S_TEST(no_poll_for_long),
  };
  return cmocka_run_group_tests_name("plugins_heartbeat", tests, nullptr, nullptr);
}
