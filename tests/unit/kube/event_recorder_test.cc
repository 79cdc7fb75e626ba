// SPDX-License-Identifier: GPL-2.0-or-later
// kube/event_recorder: what shares an event, and what becomes of one that is refused.
#include "kube/event_recorder.hpp"

#include "base/rfc3339.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

using namespace slurmk8s;
using namespace slurmk8s::kube;
using std::chrono::seconds;

namespace {

constexpr EventRecorder::Kind kMade{"Normal", "Made", "Make"};

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

struct World {
  FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  Throttle throttle{clock};
  EventRecorder recorder{client, timers, clock, throttle, "slurm", "x.io/maker", join};

  void record(const char* object, const std::vector<std::string>& names, const char* note) {
    recorder.record({"x.io/v1", "Thing", object, std::string("uid-") + object}, kMade, names, note);
  }
  void pass(int seconds_) {
    for (int i = 0; i < seconds_; ++i) {
      clock.advance(seconds(1));
      timers.run_due();
      client.deliver();
    }
  }
  /** "OBJECT: NOTE" of each event, in order of the objects. */
  std::string told() const {
    std::string text;
    for (const std::string& name : client.names(kEvents, "slurm")) {
      const Json event = client.find(kEvents, "slurm", name);
      const Json about = event["regarding"];
      assert_text(about["kind"].text(), "Thing");
      assert_text(about["apiVersion"].text(), "x.io/v1");
      assert_text(event["reportingController"].text(), "x.io/maker");
      text += std::string(text.empty() ? "" : "; ") + std::string(about["name"].text()) + ": " +
              std::string(event["note"].text());
    }
    return text;
  }
};

void names_with_one_note_share_an_event(void**) {
  World world;
  world.record("a", {"n2"}, "why");
  world.record("a", {"n1"}, "why");
  world.record("b", {"n3"}, "why");
  world.record("c", {}, "alone");
  assert_text(world.told(), "");
  world.pass(1);
  assert_text(world.told(), "a: n1,n2 (2): why; b: n3 (1): why; c: alone");
}

void a_long_list_of_names_is_cut_before_the_text(void**) {
  World world;
  world.record("a", {std::string(3000, 'n')}, "why");
  world.pass(1);
  assert_text(world.told(), "a: " + std::string(500, 'n') + "... (1): why");
}

// The event that was refused with 429 is told when the pause is over, and has the time at which it happened.
void a_pause_is_kept(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::throttled, "slow down", seconds(10)));
  const auto before = world.clock.wall();
  world.record("a", {"n1"}, "why");
  world.pass(1);
  assert_true(world.throttle.is_paused());
  world.record("b", {"n1"}, "why");
  world.pass(9);
  assert_int_equal(world.client.count(Verb::create), 1);
  world.pass(3);
  assert_text(world.told(), "a: n1 (1): why; b: n1 (1): why");
  const Json first = world.client.find(kEvents, "slurm", world.client.names(kEvents, "slurm")[0]);
  assert_text(first["eventTime"].text(), rfc3339(before));
}

void what_is_refused_otherwise_is_dropped(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::forbidden, "no role"));
  world.record("a", {"n1"}, "why");
  world.pass(5);
  assert_text(world.told(), "");
  world.record("a", {"n1"}, "why");
  world.pass(1);
  assert_text(world.told(), "a: n1 (1): why");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(names_with_one_note_share_an_event),
      SLURMK8S_TEST(a_long_list_of_names_is_cut_before_the_text),
      SLURMK8S_TEST(a_pause_is_kept),
      SLURMK8S_TEST(what_is_refused_otherwise_is_dropped),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
