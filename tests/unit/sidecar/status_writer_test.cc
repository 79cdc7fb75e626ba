// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/status_writer: what is written, when, and what isn't.
#include "sidecar/status_writer.hpp"

#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"
#include "support/steps.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  kube::Throttle throttle{clock};
  Timers timers{clock};
  StatusWriter writer;

  explicit Fixture(Jitter jitter = [] { return 0.5; })
      : writer(client, timers, clock, throttle, "slurm", {}, std::move(jitter)) {}

  /** A NodeSet that the API server has and the writer has heard of. */
  void add(const char* name) {
    Json object = Json::object();
    object.set("metadata", Json::object().set("name", name).set("generation", Json::integer(1)));
    writer.observe(client.put(kube::kNodeSets, "slurm", object));
  }
  static NodeSetState state(std::int64_t total, bool ready = true) {
    NodeSetState state;
    state.generation = 3;
    state.counts.total = total;
    state.counts.idle = total;
    state.counts.powered_down = total;
    state.ready = ready;
    state.reason = ready ? "NodesMatch" : "ScalingIn";
    state.message = "text";
    return state;
  }
  /** Lets time pass in steps of 100 ms, with all that becomes due. */
  void pass(milliseconds time) {
    for (; time.count() >= 0; time -= milliseconds(100)) {
      timers.run_due();
      client.deliver();
      clock.advance(milliseconds(100));
    }
  }
  Json status(const char* name) const { return client.find(kube::kNodeSets, "slurm", name)["status"]; }
};

void writes_every_field(void**) {
  Fixture f;
  f.add("c");
  NodeSetState state;
  state.generation = 7;
  state.desired = 11;
  state.counts = {.total = 1,
                  .ready = 2,
                  .powered_up = 3,
                  .powering_up = 4,
                  .powering_down = 5,
                  .powered_down = 6,
                  .allocated = 7,
                  .idle = 8,
                  .draining = 9,
                  .down = 10};
  state.reason = "InvalidSpec";
  state.message = "nodeset slurm/c: spec.replicas: Invalid value: \"x\": must be an integer";
  state.failures = {{"c-3", "c-4"}, true, "unschedulable: no room"};
  state.roll_out = {
      .template_hash = "1-abc", .updated = 11, .reason = "RollingOut", .message = "c-3 (1): to be updated"};
  f.writer.want("c", state);
  f.pass(milliseconds(0));
  assert_text(
      f.status("c").dump(),
      R"({"observedGeneration":7,"desired":11,"replicas":1,"readyReplicas":2,"updatedReplicas":11,)"
      R"("updateRevision":"1-abc","poweredUp":3,"poweringUp":4,"poweringDown":5,"poweredDown":6,)"
      R"("allocated":7,"idle":8,"draining":9,"down":10,"selector":"slurm-k8s.io/nodeset=c",)"
      R"("conditions":[{"type":"Ready","status":"False","reason":"InvalidSpec",)"
      R"("message":"nodeset slurm/c: spec.replicas: Invalid value: \"x\": must be an integer","observedGeneration":7,)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"PowerUpFailing","status":"True",)"
      R"("reason":"Protected","message":"c-[3-4] (2): unschedulable: no room","observedGeneration":7,)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"},{"type":"RolledOut","status":"False",)"
      R"("reason":"RollingOut","message":"c-3 (1): to be updated","observedGeneration":7,)"
      R"("lastTransitionTime":"2026-01-01T00:00:00Z"}]})");
  assert_int_equal(f.client.calls.size(), 1);
  assert_text(f.client.calls[0].subresource, "status");
  assert_int_equal(f.client.calls[0].body.size(), 1);
}

// What a sidecar must know of the previous one after a restart.
void reads_which_roll_out_is_stopped(void**) {
  NodeSetState state = Fixture::state(1);
  state.roll_out = {.template_hash = "1-abc", .reason = "RollingOut"};
  assert_text(decode_stopped_template(encode_status("c", state)), "");
  state.roll_out.reason = kRollOutStopped;
  assert_text(decode_stopped_template(encode_status("c", state)), "1-abc");
  assert_text(decode_stopped_template(Json()), "");
}

void writes_and_removes_pins(void**) {
  Fixture f;
  f.add("c");
  NodeSetState state;
  state.pins = {{"0", "m0"}, {"1", "m1"}};
  f.writer.want("c", state);
  f.pass(seconds(2));
  assert_text(f.status("c")["ordinalToNode"].dump(), R"({"0":"m0","1":"m1"})");
  state.pins = {{"1", "m2"}};
  f.writer.want("c", state);
  f.pass(seconds(2));
  assert_text(f.status("c")["ordinalToNode"].dump(), R"({"1":"m2"})");
  f.writer.want("c", state);
  f.pass(seconds(2));
  assert_int_equal(f.client.calls.size(), 2);
  state.pins.clear();
  f.writer.want("c", state);
  f.pass(seconds(2));
  assert_false(f.status("c").has("ordinalToNode"));
  f.writer.want("c", state);
  f.pass(seconds(2));
  assert_int_equal(f.client.calls.size(), 3);
}

void writes_further_conditions(void**) {
  Fixture f;
  f.add("c");
  f.writer.want("c", f.state(8), {{"DisruptionProtected", true, "BudgetInPlace", "text"}});
  f.pass(seconds(2));
  f.writer.want("c", f.state(8), {{"DisruptionProtected", false, "Disabled", "other"}});
  f.pass(seconds(2));
  const Json condition = f.status("c")["conditions"][std::size_t(3)];
  assert_text(condition.dump(),
              R"({"type":"DisruptionProtected","status":"False","reason":"Disabled","message":"other",)"
              R"("observedGeneration":3,"lastTransitionTime":"2026-01-01T00:00:02Z"})");
  assert_int_equal(f.client.count(Verb::patch), 2);
}

void writes_only_changes(void**) {
  Fixture f;
  f.add("c");
  f.writer.want("c", f.state(8));
  f.pass(seconds(2));
  assert_int_equal(f.client.count(Verb::patch), 1);
  for (int i = 0; i < 10; i++) {
    f.writer.want("c", f.state(8));
    f.writer.observe(f.client.find(kube::kNodeSets, "slurm", "c"));  // our own write comes back by the watch
    f.pass(seconds(1));
  }
  assert_int_equal(f.client.count(Verb::patch), 1);
  assert_int_equal(f.writer.written(), 1);

  // A new writer, as after a restart, finds its own words there and keeps still.
  StatusWriter second(f.client, f.timers, f.clock, f.throttle, "slurm");
  second.observe(f.client.find(kube::kNodeSets, "slurm", "c"));
  second.want("c", f.state(8));
  f.pass(seconds(2));
  assert_int_equal(f.client.count(Verb::patch), 1);

  // Somebody else's writing is put right.
  Json spoilt = f.client.find(kube::kNodeSets, "slurm", "c").clone();
  spoilt.set("status", Json::object().set("replicas", Json::integer(99)));
  f.writer.observe(f.client.put(kube::kNodeSets, "slurm", spoilt));
  f.pass(seconds(2));
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 8);
  assert_int_equal(f.status("c")["conditions"].size(), 3);
}

void writes_once_a_second_each(void**) {
  Fixture f;
  f.add("a");
  f.add("b");
  for (int i = 1; i <= 50; i++) {  // five seconds
    f.writer.want("a", f.state(i));
    f.writer.want("b", f.state(i));
    f.pass(milliseconds(0));
  }
  assert_in_range(f.client.count(Verb::patch), 10, 12);
  f.pass(seconds(2));
  assert_int_equal(f.status("a")["replicas"].integer_or(0), 50);
  assert_int_equal(f.status("b")["replicas"].integer_or(0), 50);
  assert_in_range(f.client.count(Verb::patch), 10, 14);
}

void keeps_the_time_of_the_transition(void**) {
  Fixture f;
  f.add("c");
  const auto time = [&] { return std::string(f.status("c")["conditions"][0]["lastTransitionTime"].text()); };
  f.writer.want("c", f.state(1, false));
  f.pass(seconds(59));
  assert_text(time(), "2026-01-01T00:00:00Z");
  f.writer.want("c", f.state(2, false));
  f.pass(seconds(1));
  assert_text(time(), "2026-01-01T00:00:00Z");
  f.writer.want("c", f.state(2, true));
  f.pass(seconds(1));
  assert_text(time(), "2026-01-01T00:01:00Z");
}

void tries_again(void**) {
  Fixture f;
  f.add("c");
  f.client.fail_next(Verb::patch, Error(Errc::unavailable, "connection refused"), 3);
  f.writer.want("c", f.state(1));
  f.pass(milliseconds(500));
  assert_int_equal(f.client.count(Verb::patch), 1);
  f.writer.want("c", f.state(2));  // what is written then is the newest
  f.pass(seconds(30));
  assert_int_equal(f.client.count(Verb::patch), 4);
  assert_int_equal(f.writer.failed(), 3);
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 2);

  f.client.fail_next(Verb::patch, Error(Errc::throttled, "slow down", seconds(20)));
  f.writer.want("c", f.state(3));
  f.pass(seconds(19));
  assert_int_equal(f.client.count(Verb::patch), 5);
  f.pass(seconds(3));
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 3);

  // Carried out, but the answer is lost: written again, which does no harm.
  f.client.lose_answers(Verb::patch, Error(Errc::timeout, "no answer"));
  f.writer.want("c", f.state(4));
  f.pass(seconds(10));
  assert_int_equal(f.status("c")["replicas"].integer_or(0), 4);
}

void forgets_what_is_gone(void**) {
  Fixture f;
  f.writer.want("unknown", f.state(1));
  f.add("a");
  f.add("b");
  f.writer.want("a", f.state(1));
  f.writer.want("b", f.state(1));
  f.timers.run_due();  // both requests are under way
  f.writer.forget("a");
  f.client.erase(kube::kNodeSets, "slurm", "b");
  f.client.deliver();  // b: not found
  f.writer.forget("b");
  f.writer.forget("b");
  f.pass(seconds(60));
  assert_int_equal(f.client.count(Verb::patch), 2);
  assert_true(f.status("a").is_null());  // its request was cancelled
  assert_false(f.timers.until_next().has_value());
}

void are_not_tried_again_in_step(void**) {
  Fixture f(random_unit);
  f.client.fail_next(Verb::patch, Error(Errc::unavailable, "away"), 1000);
  for (const char* name : {"c", "d", "e", "f"}) {
    f.add(name);
    f.writer.want(name, Fixture::state(1));
  }
  assert_false(stay_in_step(4, 200, [&] {
    const std::size_t before = f.client.count(Verb::patch);
    f.pass(milliseconds(900));
    return f.client.count(Verb::patch) - before;
  }));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(writes_every_field),
      SLURMK8S_TEST(reads_which_roll_out_is_stopped),
      SLURMK8S_TEST(writes_and_removes_pins),
      SLURMK8S_TEST(writes_further_conditions),
      SLURMK8S_TEST(writes_only_changes),
      SLURMK8S_TEST(writes_once_a_second_each),
      SLURMK8S_TEST(keeps_the_time_of_the_transition),
      SLURMK8S_TEST(tries_again),
      SLURMK8S_TEST(forgets_what_is_gone),
      SLURMK8S_TEST(are_not_tried_again_in_step),
  };
  return cmocka_run_group_tests_name("sidecar_status_writer", tests, nullptr, nullptr);
}
