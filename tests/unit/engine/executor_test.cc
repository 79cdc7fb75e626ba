// SPDX-License-Identifier: GPL-2.0-or-later
// engine/executor: how many requests are in flight, what waits during a pause, and what is counted.
#include "engine/executor.hpp"

#include <numeric>
#include <vector>

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using kube::kPods;
using kube::Verb;
using std::chrono::seconds;

struct World {
  kube::FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  EngineMetrics metrics;
  int rooms = 0;
  std::vector<seconds> pauses;
  int ok = 0;
  int failed = 0;
  Executor executor{{client, client, timers, clock, "slurm", 2, metrics, [this] { ++rooms; },
                     [this](const kube::Throttle::Pause& pause) { pauses.push_back(pause.wait); }}};

  kube::OnObject done() {
    return [this](const Result<Json>& result) { ++(result.ok() ? ok : failed); };
  }
  void create(const char* name) {
    executor.create(kPods, Json::object().set("metadata", Json::object().set("name", name)), done());
  }
  void pass(seconds time) {
    clock.advance(time);
    timers.run_due();
    client.deliver();
    timers.run_due();
  }
  std::uint64_t counted(ApiVerb verb) const {
    const auto& counts = metrics.api[static_cast<std::size_t>(verb)].counts();
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
};

void room_is_bounded(void**) {
  World world;
  world.create("c-0");
  assert_true(world.executor.has_room());
  world.create("c-1");
  assert_false(world.executor.has_room());
  world.client.deliver();
  assert_true(world.executor.has_room());
  assert_int_equal(world.executor.in_flight(), 0);
  assert_int_equal(world.rooms, 2);
  assert_int_equal(world.ok, 2);
}

void nothing_is_sent_during_a_pause(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::throttled, "slow down", seconds(20)));
  world.create("c-0");
  world.client.deliver();
  assert_int_equal(world.failed, 1);
  assert_true(world.executor.is_paused());
  assert_false(world.executor.has_room());

  const std::size_t before = world.client.calls.size();
  world.create("c-1");
  world.executor.get("c-0", world.done());
  world.executor.remove("c-0", "uid", world.done());
  assert_int_equal(world.executor.in_flight(), 3);
  world.pass(seconds(19));
  assert_int_equal(world.client.calls.size(), before);
  world.pass(seconds(1));
  assert_int_equal(world.client.calls.size(), before + 3);  // in the order in which they were begun
  assert_true(world.client.calls[before].verb == Verb::create);
  assert_true(world.client.calls[before + 2].verb == Verb::remove);
  assert_int_equal(world.executor.in_flight(), 0);
  assert_int_equal(world.metrics.api_pauses, 1);
}

void a_pause_that_is_prolonged_is_one(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::throttled, "slow down", seconds(10)));
  world.create("c-0");
  world.client.deliver();
  world.create("c-1");
  world.pass(seconds(5));
  world.executor.throttle().heed(Error(Errc::throttled, "slow down", seconds(10)));  // an event was refused
  world.pass(seconds(9));
  assert_int_equal(world.ok, 0);
  world.pass(seconds(1));
  assert_int_equal(world.ok, 1);
  assert_int_equal(world.metrics.api_pauses, 1);
}

void long_pauses_are_reported(void**) {
  const struct {
    seconds asked;
    std::vector<seconds> reported;
  } rows[] = {{seconds(4), {}}, {seconds(5), {seconds(5)}}, {seconds(3600), {kube::Throttle::kLongestPause}}};
  for (const auto& row : rows) {
    World world;
    world.client.fail_next(Verb::create, Error(Errc::throttled, "slow down", row.asked));
    world.create("c-0");
    world.pass(seconds(0));
    assert_true(world.pauses == row.reported);
  }
}

void requests_say_which_object(void**) {
  World world;
  world.client.put(kPods, "slurm", Json::object().set("metadata", Json::object().set("name", "c-0")));
  world.executor.get("c-0", world.done());
  world.executor.remove("c-0", "another", world.done());
  world.client.deliver();
  assert_int_equal(world.ok, 1);
  assert_int_equal(world.failed, 1);
  assert_text(world.client.calls[1].name_space, "slurm");
  assert_text(world.client.calls[1].options.uid, "another");
  assert_int_equal(world.counted(ApiVerb::get), 1);
  assert_int_equal(world.counted(ApiVerb::remove), 1);
  assert_int_equal(world.counted(ApiVerb::create), 0);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(room_is_bounded),
      SLURMK8S_TEST(nothing_is_sent_during_a_pause),
      SLURMK8S_TEST(a_pause_that_is_prolonged_is_one),
      SLURMK8S_TEST(long_pauses_are_reported),
      SLURMK8S_TEST(requests_say_which_object),
  };
  return cmocka_run_group_tests_name("engine_executor", tests, nullptr, nullptr);
}
