// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/leader_lease: who acts, and when another one takes over. Two that contend share an API server and a clock.
#include "daemon/leader_lease.hpp"

#include "base/rfc3339.hpp"
#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using kube::kLeases;
using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

LeaseOptions options_of(const char* identity) {
  LeaseOptions options;
  options.elect = true;
  options.name = "sidecar";
  options.identity = identity;
  return options;
}

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  LeaderLease a{client, timers, clock, "slurm", options_of("a"), [] { return 1.0; }};
  LeaderLease b{client, timers, clock, "slurm", options_of("b"), [] { return 1.0; }};

  bool holds(const LeaderLease& one) const { return clock.now() < one.held_until(); }
  /** "a", "b", "", or "both", which must never be. */
  std::string leader() const {
    if (holds(a) && holds(b)) return "both";
    return holds(a) ? "a" : holds(b) ? "b" : "";
  }
  void turn() {
    timers.run_due();
    client.deliver();
  }
  /** Fails as soon as two hold it. */
  void run_for(milliseconds time) {
    for (const TimePoint end = clock.now() + time; clock.now() < end; clock.advance(milliseconds(100))) {
      turn();
      assert_true(leader() != "both");
    }
    turn();
  }
  Json spec() const { return client.find(kLeases, "slurm", "sidecar")["spec"]; }
  void touch(const char* holder) {
    const Json was = client.find(kLeases, "slurm", "sidecar");
    Json now = was.clone();
    now.set("spec", was["spec"].clone().set("holderIdentity", holder).set("renewTime", rfc3339(clock.wall())));
    client.put(kLeases, "slurm", now);
  }
};

void what_is_to_be_done(void**) {
  const auto lease = [](const char* holder) { return Lease{.there = true, .holder = holder}; };
  const struct {
    Lease lease;
    bool expired;
    LeaseStep step;
  } cases[] = {
      {{}, false, LeaseStep::create},          {{}, true, LeaseStep::create},
      {lease("me"), false, LeaseStep::renew},  {lease("me"), true, LeaseStep::renew},
      {lease(""), false, LeaseStep::take},     {lease("other"), false, LeaseStep::wait},
      {lease("other"), true, LeaseStep::take},
  };
  for (const auto& c : cases) assert_true(plan_lease(c.lease, "me", c.expired) == c.step);
}

void what_an_object_says(void**) {
  const auto full =
      Json::parse(R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"x","leaseDurationSeconds":30,)"
                  R"("acquireTime":"2026-01-01T00:00:00.000000Z","renewTime":"2026-01-01T00:00:02.000000Z",)"
                  R"("leaseTransitions":3}})");
  const Lease lease = decode_lease(*full, seconds(15));
  assert_true(lease.there);
  assert_text(lease.holder, "x");
  assert_int_equal(lease.duration.count(), 30);
  assert_text(lease.renewed, "2026-01-01T00:00:02.000000Z");
  assert_int_equal(lease.transitions, 3);
  assert_text(lease.version, "7");
  const Lease bare = decode_lease(*Json::parse(R"({"metadata":{},"spec":{}})"), seconds(15));
  assert_text(bare.holder, "");
  assert_int_equal(bare.duration.count(), 15);
  assert_false(decode_lease(Json(), seconds(15)).there);
}

void the_first_makes_it(void**) {
  Fixture f;
  assert_true(f.a.is_idle());
  f.run_for(seconds(5));
  assert_int_equal(f.client.calls.size(), 0);  // nobody asked for it
  f.a.contend();
  f.run_for(milliseconds(100));
  assert_text(f.leader(), "a");
  assert_text(f.spec().dump(), Json::object()
                                   .set("holderIdentity", "a")
                                   .set("leaseDurationSeconds", Json::integer(15))
                                   .set("renewTime", "2026-01-01T00:00:05.000000Z")
                                   .set("acquireTime", "2026-01-01T00:00:05.000000Z")
                                   .set("leaseTransitions", Json::integer(0))
                                   .dump());
}

void the_holder_renews_and_the_other_looks(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(milliseconds(100));
  f.b.contend();
  f.client.calls.clear();
  f.run_for(seconds(60));
  assert_text(f.leader(), "a");
  assert_in_range(f.client.count(Verb::patch), 29, 31);
  assert_in_range(f.client.count(Verb::get), 29, 32);  // all of them b's: who holds it knows what is there
  assert_int_equal(f.client.count(Verb::create), 0);
  assert_text(f.spec()["acquireTime"].text(), "2026-01-01T00:00:00.000000Z");
  assert_true(f.spec()["renewTime"].text() > "2026-01-01T00:00:58");
  assert_int_equal(f.spec()["leaseTransitions"].integer_or(-1), 0);
}

void of_two_that_make_it_one_does(void**) {
  Fixture f;
  f.a.contend();
  f.b.contend();
  f.run_for(seconds(10));
  assert_int_equal(f.client.count(Verb::create), 2);
  assert_text(f.leader(), "a");
}

// The one that holds it is gone without a word.
void an_expired_one_is_taken(void**) {
  Fixture f;
  auto gone = std::make_unique<LeaderLease>(f.client, f.timers, f.clock, "slurm", options_of("gone"));
  gone->contend();
  f.run_for(milliseconds(100));
  f.a.contend();
  f.b.contend();
  f.run_for(seconds(7));
  gone.reset();
  f.run_for(seconds(12));
  assert_text(f.leader(), "");
  f.run_for(seconds(4));
  assert_text(f.leader(), "a");
  assert_text(f.spec()["holderIdentity"].text(), "a");
  assert_int_equal(f.spec()["leaseTransitions"].integer_or(-1), 1);
  assert_true(f.spec()["acquireTime"].text() > "2026-01-01T00:00:19");
}

// Its times are of another clock: an hour before or after ours says nothing.
void clocks_are_not_compared(void**) {
  for (const char* renewed : {"2025-12-31T23:00:00.000000Z", "2026-01-01T01:00:00.000000Z"}) {
    Fixture f;
    const auto lease = Json::parse(format(
        R"({"metadata":{"name":"sidecar"},"spec":{"holderIdentity":"x","leaseDurationSeconds":15,"renewTime":"%s"}})",
        renewed));
    f.client.put(kLeases, "slurm", *lease);
    f.a.contend();
    f.run_for(milliseconds(14800));
    assert_text(f.leader(), "");
    f.run_for(milliseconds(400));
    assert_text(f.leader(), "a");
  }
}

// Somebody's annotation is no sign of the holder's life; its own duration counts, not ours.
void only_the_holder_keeps_it(void**) {
  Fixture f;
  const auto lease = Json::parse(
      R"({"metadata":{"name":"sidecar"},"spec":{"holderIdentity":"x","leaseDurationSeconds":6,"renewTime":"then"}})");
  f.client.put(kLeases, "slurm", *lease);
  f.a.contend();
  f.run_for(seconds(3));
  Json annotated = f.client.find(kLeases, "slurm", "sidecar");
  annotated["metadata"].set("annotations", Json::object().set("note", "x"));
  f.client.put(kLeases, "slurm", annotated);
  f.run_for(milliseconds(3200));
  assert_text(f.leader(), "a");
}

void a_released_one_is_taken_at_once(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(milliseconds(100));
  f.b.contend();
  f.run_for(seconds(5));
  f.a.withdraw();
  assert_text(f.leader(), "");  // before the API server knows
  f.run_for(milliseconds(200));
  assert_true(f.a.is_idle());
  f.run_for(seconds(2));
  assert_text(f.leader(), "b");
  assert_int_equal(f.spec()["leaseTransitions"].integer_or(-1), 1);
  f.a.contend();
  f.run_for(seconds(20));
  assert_text(f.leader(), "b");
}

// Nothing of another's is given back; what a write without an answer may have taken is.
void what_is_not_ours_is_not_released(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(seconds(1));
  f.b.contend();
  f.run_for(seconds(3));
  f.b.withdraw();
  f.run_for(milliseconds(200));
  assert_true(f.b.is_idle());
  assert_text(f.spec()["holderIdentity"].text(), "a");

  Fixture lost;
  lost.client.lose_answers(Verb::create, Error(Errc::timeout, "no answer"));
  lost.a.contend();
  lost.run_for(milliseconds(100));
  assert_text(lost.leader(), "");
  lost.a.withdraw();
  lost.run_for(milliseconds(200));
  assert_true(lost.a.is_idle());
  assert_text(lost.spec()["holderIdentity"].text(), "");
}

// The API server is away when it is to be given back: then later, unless another has it by then.
void is_released_when_the_api_server_is_back(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(seconds(1));
  f.client.fail_next(Verb::get, Error(Errc::unavailable, "connection refused"), 2);
  f.client.fail_next(Verb::patch, Error(Errc::conflict, "changed"));
  f.a.withdraw();
  f.run_for(seconds(1));
  assert_false(f.a.is_idle());
  f.run_for(seconds(5));
  assert_true(f.a.is_idle());
  assert_text(f.spec()["holderIdentity"].text(), "");
}

// It can't be renewed: it isn't ours any more before another one may take it.
void without_renewals_it_is_lost(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(milliseconds(100));
  f.client.fail_next(Verb::patch, Error(Errc::unavailable, "connection refused"), 1000);
  f.client.fail_next(Verb::get, Error(Errc::unavailable, "connection refused"), 1000);
  f.b.contend();
  f.run_for(milliseconds(9800));
  assert_text(f.leader(), "a");
  f.run_for(milliseconds(200));
  assert_text(f.leader(), "");
  f.client.forgive();
  f.run_for(seconds(3));
  assert_text(f.leader(), "a");  // it is still in its name
  assert_int_equal(f.spec()["leaseTransitions"].integer_or(-1), 0);
}

// All that contend lost the API server at one instant: they come back one after the other.
void retries_are_spread(void**) {
  const struct {
    double jitter;
    milliseconds wait;
  } cases[] = {{0, milliseconds(1000)}, {0.5, milliseconds(1500)}, {1, milliseconds(2000)}};
  for (const auto& c : cases) {
    Fixture f;
    LeaderLease one(f.client, f.timers, f.clock, "slurm", options_of("one"), [&c] { return c.jitter; });
    f.client.fail_next(Verb::get, Error(Errc::unavailable, "connection refused"));
    one.contend();
    f.run_for(c.wait - milliseconds(100));
    assert_int_equal(f.client.count(Verb::get), 1);
    f.run_for(milliseconds(100));
    assert_int_equal(f.client.count(Verb::get), 2);
  }
}

// While another holds it, or nobody, nothing is asked for as long as the server says.
void retry_after_is_kept(void**) {
  Fixture f;
  f.client.fail_next(Verb::get, Error(Errc::throttled, "slow down", seconds(20)));
  f.a.contend();
  f.run_for(milliseconds(19900));
  assert_int_equal(f.client.count(Verb::get), 1);
  f.run_for(milliseconds(300));
  assert_text(f.leader(), "a");
  f.client.fail_next(Verb::get, Error(Errc::throttled, "slow down", seconds(3600)));
  f.b.contend();
  const std::size_t gets = f.client.count(Verb::get);
  f.run_for(seconds(59));
  assert_int_equal(f.client.count(Verb::get), gets + 1);
  f.run_for(seconds(4));
  assert_true(f.client.count(Verb::get) > gets + 1);
}

// Who holds it tries once more before it would be lost.
void retry_after_does_not_cost_the_lease(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(seconds(1));
  f.client.fail_next(Verb::patch, Error(Errc::throttled, "slow down", seconds(20)));
  f.run_for(seconds(9));
  assert_text(f.leader(), "a");
  assert_in_range(f.client.count(Verb::patch), 2, 4);
  f.run_for(seconds(20));
  assert_text(f.leader(), "a");
}

// A renewal's answer counts from when it was sent.
void a_late_answer_makes_no_longer_lease(void**) {
  Fixture f;
  f.a.contend();
  f.turn();
  assert_true(f.a.held_until() - f.clock.now() == seconds(10));
  f.clock.advance(seconds(2));
  f.timers.run_due();
  f.clock.advance(seconds(4));
  f.client.deliver();
  assert_true(f.a.held_until() - f.clock.now() == seconds(6));
}

void silence_is_not_waited_for(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(milliseconds(100));
  f.client.calls.clear();
  for (int i = 0; i < 80; i++) {  // nothing is delivered
    f.clock.advance(milliseconds(100));
    f.timers.run_due();
  }
  assert_int_equal(f.client.count(Verb::patch), 1);
  for (int i = 0; i < 10; i++) {
    f.clock.advance(milliseconds(100));
    f.timers.run_due();
  }
  assert_int_equal(f.client.count(Verb::patch), 2);
  f.client.deliver();
  assert_text(f.leader(), "a");
}

void a_conflict_is_looked_into(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(milliseconds(100));
  f.touch("a");  // somebody has edited it
  f.run_for(milliseconds(2100));
  assert_text(f.leader(), "a");
  assert_true(f.spec()["renewTime"].text() >= "2026-01-01T00:00:02");
  f.touch("x");  // and now it is somebody's
  f.run_for(milliseconds(2100));
  assert_text(f.leader(), "");
  assert_text(f.spec()["holderIdentity"].text(), "x");
  f.run_for(seconds(16));
  assert_text(f.leader(), "a");
}

void a_deleted_one_is_made_again(void**) {
  Fixture f;
  f.a.contend();
  f.run_for(milliseconds(100));
  f.client.erase(kLeases, "slurm", "sidecar");
  f.run_for(seconds(3));
  assert_text(f.leader(), "a");
  assert_text(f.spec()["holderIdentity"].text(), "a");
}

// A container that is started again in the same pod has the name of the one before.
void the_same_name_goes_on_at_once(void**) {
  Fixture f;
  auto before = std::make_unique<LeaderLease>(f.client, f.timers, f.clock, "slurm", options_of("a"));
  before->contend();
  f.run_for(seconds(1));
  before.reset();
  f.a.contend();
  f.run_for(milliseconds(100));
  assert_text(f.leader(), "a");
  assert_int_equal(f.spec()["leaseTransitions"].integer_or(-1), 0);
}

// 404 at a create, too.
void a_missing_namespace_is_asked_for_rarely(void**) {
  Fixture f;
  f.client.fail_next(Verb::create, Error(Errc::not_found, "namespaces \"slurm\" not found"), 1000);
  f.a.contend();
  f.run_for(seconds(10));
  assert_in_range(f.client.calls.size(), 4, 20);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(what_is_to_be_done),
      SLURMK8S_TEST(what_an_object_says),
      SLURMK8S_TEST(the_first_makes_it),
      SLURMK8S_TEST(the_holder_renews_and_the_other_looks),
      SLURMK8S_TEST(of_two_that_make_it_one_does),
      SLURMK8S_TEST(an_expired_one_is_taken),
      SLURMK8S_TEST(clocks_are_not_compared),
      SLURMK8S_TEST(only_the_holder_keeps_it),
      SLURMK8S_TEST(a_released_one_is_taken_at_once),
      SLURMK8S_TEST(what_is_not_ours_is_not_released),
      SLURMK8S_TEST(is_released_when_the_api_server_is_back),
      SLURMK8S_TEST(retries_are_spread),
      SLURMK8S_TEST(retry_after_is_kept),
      SLURMK8S_TEST(retry_after_does_not_cost_the_lease),
      SLURMK8S_TEST(without_renewals_it_is_lost),
      SLURMK8S_TEST(a_late_answer_makes_no_longer_lease),
      SLURMK8S_TEST(silence_is_not_waited_for),
      SLURMK8S_TEST(a_conflict_is_looked_into),
      SLURMK8S_TEST(a_deleted_one_is_made_again),
      SLURMK8S_TEST(the_same_name_goes_on_at_once),
      SLURMK8S_TEST(a_missing_namespace_is_asked_for_rarely),
  };
  return cmocka_run_group_tests_name("sidecar_leader_lease", tests, nullptr, nullptr);
}
