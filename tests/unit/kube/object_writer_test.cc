// SPDX-License-Identifier: GPL-2.0-or-later
// kube/object_writer: how many writes at a time, and how long a failure keeps them back.
#include "kube/object_writer.hpp"

#include <set>

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::string> log_lines;
void keep_line(LogLevel, const char* line) { log_lines.emplace_back(line); }

struct World {
  FakeClient client;
  FakeClock clock;
  Throttle throttle{clock};
  int answers = 0;

  ObjectWriterOptions options() const {
    return {.resource = kPods, .name_space = "slurm", .what = "pod", .action = "mark", .max_in_flight = 3};
  }
  void put(const std::string& name) {
    client.put(kPods, "slurm", Json::object().set("metadata", Json::object().set("name", name)));
  }
  void write(ObjectWriter& writer, const std::string& name) {
    writer.patch(name, PatchType::merge, Json::object().set("seen", "yes"), [this](const Result<Json>&) { ++answers; });
  }
};

void one_at_a_time_and_so_many_in_all(void**) {
  World world;
  ObjectWriter writer(world.client, world.clock, world.throttle, world.options());
  for (const char* name : {"a", "b", "c", "d"}) {
    world.put(name);
    assert_true(writer.may_write(name) == (std::string(name) != "d"));
    if (writer.may_write(name)) world.write(writer, name);
    assert_false(writer.may_write(name));
  }
  world.client.deliver();
  assert_int_equal(world.answers, 3);
  assert_true(writer.may_write("a"));
  assert_true(writer.may_write("d"));
  writer.create("e", Json::object().set("metadata", Json::object().set("name", "e")), {});
  writer.remove("a", {.uid = "uid-1"}, {});
  world.client.deliver();
  assert_true(world.client.find(kPods, "slurm", "a").is_null());
  assert_false(world.client.find(kPods, "slurm", "e").is_null());
  assert_text(world.client.calls.back().options.uid, "uid-1");
}

void failures_back_off_and_a_success_ends_it(void**) {
  World world;
  ObjectWriter writer(world.client, world.clock, world.throttle, world.options(), [] { return 1.0; });
  world.put("a");
  const int waits[] = {1, 2, 4, 8, 16, 32, 60, 60};
  for (const int wait : waits) {
    world.client.fail_next(Verb::patch, Error(Errc::unavailable, "away"));
    world.write(writer, "a");
    world.client.deliver();
    assert_true(writer.not_before("a") == world.clock.now() + seconds(wait));
    assert_true(writer.may_write("b"));
    world.clock.advance(seconds(wait) - milliseconds(1));
    assert_false(writer.may_write("a"));
    world.clock.advance(milliseconds(1));
    assert_true(writer.may_write("a"));
  }
  world.write(writer, "a");
  world.client.deliver();
  assert_true(writer.may_write("a"));
  world.client.fail_next(Verb::patch, Error(Errc::unavailable, "starting", seconds(7)));
  world.write(writer, "a");
  world.client.deliver();
  assert_true(writer.not_before("a") == world.clock.now() + seconds(7));
  assert_true(writer.may_write("b"));  // only a 429 silences all
}

// With a constant in the place of random_unit() all would be tried again at the same moment.
void failures_of_one_moment_are_spread(void**) {
  World world;
  ObjectWriterOptions options = world.options();
  options.max_in_flight = 100;
  ObjectWriter writer(world.client, world.clock, world.throttle, options);
  world.client.fail_next(Verb::patch, Error(Errc::unavailable, "away"), 100);
  std::set<TimePoint> tries;
  for (int i = 0; i < 100; ++i) world.write(writer, "p-" + std::to_string(i));
  world.client.deliver();
  for (int i = 0; i < 100; ++i) tries.insert(writer.not_before("p-" + std::to_string(i)));
  assert_true(tries.size() > 20);
  assert_true(*tries.begin() >= world.clock.now() + milliseconds(500));
  assert_true(*tries.rbegin() <= world.clock.now() + seconds(1));
}

void a_429_pauses_all_that_share_it(void**) {
  const struct {
    std::optional<seconds> asked;
    seconds pause;
  } cases[] = {{std::nullopt, seconds(1)}, {seconds(20), seconds(20)}, {seconds(3600), seconds(60)}};
  for (const auto& c : cases) {
    World world;
    ObjectWriter one(world.client, world.clock, world.throttle, world.options());
    ObjectWriter two(world.client, world.clock, world.throttle, world.options());
    world.client.fail_next(Verb::patch, Error(Errc::throttled, "slow down", c.asked));
    world.write(one, "a");
    world.client.deliver();
    for (const ObjectWriter* writer : {&one, &two}) {
      assert_false(writer->may_write("b"));
      assert_true(writer->not_before("b") == world.clock.now() + c.pause);
    }
    world.clock.advance(c.pause);
    assert_true(one.may_write("b"));
    assert_true(two.may_write("b"));
  }
}

void pauses_only_grow(void**) {
  FakeClock clock;
  Throttle throttle(clock);
  const auto first = throttle.heed(Error(Errc::throttled, "", seconds(10)));
  assert_true(first && first->is_new && first->wait == seconds(10));
  assert_false(throttle.heed(Error(Errc::throttled, "", seconds(5))).has_value());
  assert_false(throttle.heed(Error(Errc::unavailable, "", seconds(50))).has_value());
  const auto longer = throttle.heed(Error(Errc::throttled, "", seconds(600)));
  assert_true(longer && !longer->is_new && longer->wait == seconds(60) && longer->asked == seconds(600));
  assert_true(throttle.until() == clock.now() + seconds(60));
  clock.advance(seconds(60) + std::chrono::minutes(5) - seconds(1));
  assert_true(throttle.asked_lately() == seconds(600));
  clock.advance(seconds(1));
  assert_false(throttle.asked_lately().has_value());
}

void what_is_forgotten_is_cancelled(void**) {
  World world;
  {
    ObjectWriter writer(world.client, world.clock, world.throttle, world.options());
    for (const char* name : {"a", "b", "c"}) world.write(writer, name);
    writer.forget("a");
    writer.forget("nobody");
    assert_true(writer.may_write("a"));
    assert_true(writer.may_write("d"));
  }
  assert_int_equal(world.client.deliver(), 0);
  assert_int_equal(world.answers, 0);
}

void a_callback_may_forget_and_write(void**) {
  World world;
  world.put("a");
  ObjectWriter writer(world.client, world.clock, world.throttle, world.options());
  writer.patch("a", PatchType::merge, Json::object(), [&](const Result<Json>&) {
    writer.forget("a");
    world.write(writer, "a");
  });
  world.client.deliver();
  assert_int_equal(world.answers, 1);
  assert_true(writer.may_write("a"));
}

void failures_leave_few_lines(void**) {
  World world;
  log_init(keep_line, LogLevel::warning);
  ObjectWriter writer(world.client, world.clock, world.throttle, world.options());
  const auto refuse = [&](Errc code) {
    world.client.fail_next(Verb::patch, Error(code, "said the server"));
    world.write(writer, "a");
    world.client.deliver();
  };
  refuse(Errc::not_found);
  refuse(Errc::conflict);
  assert_int_equal(log_lines.size(), 0);
  for (int i = 0; i < 5; ++i) refuse(Errc::forbidden);
  world.clock.advance(seconds(30));
  refuse(Errc::forbidden);
  log_init(nullptr, LogLevel::warning);
  assert_int_equal(log_lines.size(), 2);
  assert_text(log_lines[0], "pod slurm/a: mark: said the server (0 similar messages suppressed)");
  assert_text(log_lines[1], "pod slurm/a: mark: said the server (4 similar messages suppressed)");
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(one_at_a_time_and_so_many_in_all),
      SLURMK8S_TEST(failures_back_off_and_a_success_ends_it),
      SLURMK8S_TEST(failures_of_one_moment_are_spread),
      SLURMK8S_TEST(a_429_pauses_all_that_share_it),
      SLURMK8S_TEST(pauses_only_grow),
      SLURMK8S_TEST(what_is_forgotten_is_cancelled),
      SLURMK8S_TEST(a_callback_may_forget_and_write),
      SLURMK8S_TEST(failures_leave_few_lines),
  };
  return cmocka_run_group_tests_name("kube_object_writer", tests, nullptr, nullptr);
}
