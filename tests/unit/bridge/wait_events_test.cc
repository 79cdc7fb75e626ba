// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/wait_events: one event for each pod, whatever becomes of it.
#include "bridge/wait_events.hpp"

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::seconds;

constexpr kube::Resource kEvents{"v1", "events"};
constexpr kube::EventRecorder::Kind kPending{"Normal", "SlurmPending", "Scheduling"};

WorkloadPod make_pod(const std::string& name, const std::string& uid) {
  WorkloadPod pod;
  pod.name_space = "a";
  pod.name = name;
  pod.uid = uid;
  return pod;
}

struct World {
  kube::FakeClient client;
  FakeClock clock;
  kube::Throttle throttle{clock};
  std::unique_ptr<WaitEvents> events = std::make_unique<WaitEvents>(client, clock, throttle, "a");

  void tell(const WorkloadPod& pod, const char* message) {
    events->tell(pod, kPending, message);
    client.deliver();
  }
  void pass(int count) {
    for (int i = 0; i < count; ++i) {
      clock.advance(seconds(1));
      events->flush();
      client.deliver();
    }
  }
  /** "NAME: MESSAGE xCOUNT" of each event. */
  std::string told() const {
    std::string text;
    for (const std::string& name : client.names(kEvents, "a")) {
      const Json event = client.find(kEvents, "a", name);
      text += std::string(text.empty() ? "" : "; ") + name + ": " + std::string(event["message"].text()) + " x" +
              event["count"].dump();
    }
    return text;
  }
};

void one_event_is_changed(void**) {
  World world;
  world.tell(make_pod("p", "u1"), "Slurm job 1: Resources");
  const Json event = world.client.find(kEvents, "a", "p.u1");
  assert_text(event["reason"].text(), "SlurmPending");
  assert_text(event["type"].text(), "Normal");
  assert_text(event["involvedObject"].dump(),
              R"({"apiVersion":"v1","kind":"Pod","namespace":"a","name":"p","uid":"u1"})");
  assert_text(event["firstTimestamp"].text(), event["lastTimestamp"].text());
  world.clock.advance(seconds(5));
  world.tell(make_pod("p", "u1"), "Slurm job 1: Priority");
  assert_text(world.told(), "p.u1: Slurm job 1: Priority x2");
  assert_true(world.client.find(kEvents, "a", "p.u1")["lastTimestamp"].text() != event["lastTimestamp"].text());
  world.tell(make_pod("p", "u2"), "Slurm job 2: None");
  assert_text(world.told(), "p.u1: Slurm job 1: Priority x2; p.u2: Slurm job 2: None x1");
}

void an_event_from_before_a_restart_is_changed(void**) {
  World world;
  world.tell(make_pod("p", "u1"), "old");
  world.events = std::make_unique<WaitEvents>(world.client, world.clock, world.throttle, "a");
  world.tell(make_pod("p", "u1"), "new");
  world.pass(1);
  assert_text(world.told(), "p.u1: new x2");
}

void a_deleted_event_is_made_again(void**) {
  World world;
  world.tell(make_pod("p", "u1"), "old");
  world.client.erase(kEvents, "a", "p.u1");
  world.tell(make_pod("p", "u1"), "new");
  world.pass(1);
  assert_text(world.told(), "p.u1: new x1");
}

void a_failed_write_is_repeated_with_what_is_told_by_then(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::unavailable, "away"));
  world.tell(make_pod("p", "u1"), "first");
  assert_text(world.told(), "");
  world.tell(make_pod("p", "u1"), "second");
  world.pass(5);
  assert_text(world.told(), "p.u1: second x1");
  const std::size_t writes = world.client.calls.size();
  world.pass(5);
  assert_int_equal(world.client.calls.size(), writes);
}

void few_are_written_at_a_time_and_none_is_lost(void**) {
  World world;
  for (int i = 0; i < 100; ++i) world.events->tell(make_pod("p" + std::to_string(i), "u"), kPending, "why");
  assert_int_equal(world.client.calls.size(), 8);
  world.client.deliver();  // each answer makes room for the next
  assert_int_equal(world.client.names(kEvents, "a").size(), 100);
  assert_int_equal(world.client.count(Verb::create), 100);
  for (std::size_t i = 0; i < 100; ++i) {
    assert_text(world.client.calls[i].body["involvedObject"]["name"].text(), "p" + std::to_string(i));
  }
}

void what_is_told_during_a_write_is_written_after_it(void**) {
  World world;
  for (const char* message : {"first", "second", "third"}) world.events->tell(make_pod("p", "u1"), kPending, message);
  world.client.deliver();
  assert_text(world.told(), "p.u1: third x2");
}

/** A pod whose event is refused holds up no other. */
void others_go_before_a_refused_one(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::unavailable, "away"));
  for (const char* name : {"p", "q", "r"}) world.events->tell(make_pod(name, "u"), kPending, "why");
  world.client.deliver();
  assert_text(world.told(), "q.u: why x1; r.u: why x1");
  world.pass(5);
  assert_text(world.told(), "p.u: why x1; q.u: why x1; r.u: why x1");
}

void of_a_pod_that_is_forgotten_nothing_is_written(void**) {
  World world;
  world.client.fail_next(Verb::create, Error(Errc::unavailable, "away"));
  world.tell(make_pod("p", "u1"), "why");
  world.events->forget("p");
  world.pass(5);
  assert_text(world.told(), "");
}

void a_name_of_the_greatest_length_fits(void**) {
  World world;
  const std::string uid = "0123456789abcdef0123456789abcdef";
  world.tell(make_pod(std::string(219, 'p') + "-" + std::string(33, 'q'), uid), "why");
  const std::string name = world.client.names(kEvents, "a").at(0);
  assert_text(name, std::string(219, 'p') + "." + uid);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(one_event_is_changed),
      SLURMK8S_TEST(an_event_from_before_a_restart_is_changed),
      SLURMK8S_TEST(a_deleted_event_is_made_again),
      SLURMK8S_TEST(a_failed_write_is_repeated_with_what_is_told_by_then),
      SLURMK8S_TEST(few_are_written_at_a_time_and_none_is_lost),
      SLURMK8S_TEST(what_is_told_during_a_write_is_written_after_it),
      SLURMK8S_TEST(others_go_before_a_refused_one),
      SLURMK8S_TEST(of_a_pod_that_is_forgotten_nothing_is_written),
      SLURMK8S_TEST(a_name_of_the_greatest_length_fits),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
