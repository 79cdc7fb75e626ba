// SPDX-License-Identifier: GPL-2.0-or-later
// What a watch, and a Reflector on it, becomes of cuts, bad events and lost history.
#include <map>

#include "kube/reflector.hpp"
#include "contract/faults.hpp"

namespace slurmk8s::contract {
namespace {

using kube::kPods;

// ---- watches --------------------------------------------------------------------------------------------------------

void a_watch_in_small_pieces_is_whole(void**) {
  fault_for_session(R"({"path":"watch=true","action":"slow","piece":1,"delay_ms":0})");
  const auto watch = session->watch(kPods, name_space(), {.resource_version = list_version()});
  make_pod("one");
  make_pod("two");
  assert_true(session->run_until([&] { return watch->events.size() >= 2; }));
  assert_text(watch->text(), "added one, added two");
  session->client().cancel(watch->id);
}

void half_a_line_is_no_event(void**) {
  const std::string version = list_version();
  make_pod("one");
  make_pod("two");
  const auto whole = session->watch(kPods, name_space(), {.resource_version = version});
  assert_true(session->run_until([&] { return whole->events.size() == 2; }));
  session->client().cancel(whole->id);
  Json event;
  event.set("type", "ADDED").set("object", whole->events[0].second);
  const auto line = static_cast<int>(event.dump().size());  // about: the server writes blanks, too
  for (const int bytes : {0, 1, line / 2, line + line / 2}) {
    tell("faults", Json::parse(format(R"({"path":"watch=true","action":"cut","bytes":%d})", bytes)).value());
    const auto watch = session->watch(kPods, name_space(), {.resource_version = version});
    assert_true(session->run_until([&] { return watch->end.has_value(); }));
    assert_error(*watch->end, Errc::unavailable, "");
    assert_text(watch->text(), bytes > line ? "added one" : "");
  }
}

void bad_events_end_the_watch(void**) {
  const struct {
    const char* line;
    Errc code;
    const char* message;
  } cases[] = {
      {R"({\"type\":\"ADDED\"\n)", Errc::protocol, "JSON"},
      {R"(nonsense\n)", Errc::protocol, "JSON"},
      {R"({\"type\":\"WHAT\",\"object\":{}}\n)", Errc::protocol, "type"},
      {R"({\"type\":\"ADDED\",\"object\":[]}\n)", Errc::protocol, ""},
      {R"({\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}}\n)", Errc::gone,
       "too old"},
      {R"({\"type\":\"ERROR\",\"object\":{\"code\":500,\"message\":\"storage\"}}\n)", Errc::unavailable, "storage"},
      {R"({\"type\":\"ADDED\",\"object\":{}})", Errc::protocol, "line"},  // no newline behind it
  };
  for (const auto& c : cases) {
    fault(format(R"({"path":"watch=true","action":"status","code":200,"body":"%s"})", c.line).c_str());
    const auto watch = session->watch(kPods, name_space(), {.resource_version = "1"});
    assert_true(session->run_until([&] { return watch->end.has_value(); }));
    assert_error(*watch->end, c.code, c.message);
    assert_text(watch->text(), "");
  }
}

void a_silent_stream_is_dead(void**) {
  std::optional<Result<http::Response>> end;
  int lines = 0;
  fault_for_session(R"({"path":"watch=true","action":"hang"})");
  session->transport().stream(
      {.target = kube::resource_path(kPods, name_space()) + "?watch=true", .timeout = 500ms},
      [&lines](std::string_view) { ++lines; }, [&end](Result<http::Response> response) { end = std::move(response); });
  assert_true(session->run_until([&] { return end.has_value(); }, 10s));
  assert_error(*end, Errc::timeout, "");
  assert_int_equal(lines, 0);
}

// ---- reflector ------------------------------------------------------------------------------------------------------

/** A Reflector and what it has told: names with their number of upserts. */
struct Follower {
  SystemClock clock;
  Timers timers{clock};
  std::map<std::string, int> upserts;
  std::map<std::string, std::string> there;  // name -> uid
  int removals = 0;
  bool synced = false;
  std::unique_ptr<kube::Reflector> reflector = std::make_unique<kube::Reflector>(
      session->client(), timers, clock, kube::ReflectorOptions{.resource = kPods, .name_space = name_space()},
      kube::ReflectorListener{.upsert =
                                  [this](const Json& object) {
                                    ++upserts[meta(object, "name")];
                                    there[meta(object, "name")] = meta(object, "uid");
                                  },
                              .remove =
                                  [this](const kube::ObjectKey& key, const std::string& uid, const Json&) {
                                    ++removals;
                                    assert_text(there[key.name], uid);
                                    there.erase(key.name);
                                  },
                              .synced = [this] { synced = true; }});

  Follower() { reflector->start(); }

  template <typename Done>
  bool run_until(Done done) {
    return session->run_until([&] {
      timers.run_due();
      return done();
    });
  }
  /** Runs until it has told what the server has. */
  bool catches_up() {
    const auto pods = fate->list(kPods, name_space(), {.limit = 0});
    assert_ok(pods);
    std::map<std::string, std::string> expected;
    (*pods)["items"].each([&](const Json& item) { expected[meta(item, "name")] = meta(item, "uid"); });
    return run_until([&] { return synced && there == expected; });
  }
};

void it_follows_through_cuts(void**) {
  make_pod("one");
  Follower follower;
  assert_true(follower.catches_up());
  tell("stats", Json(), "DELETE");
  for (const int bytes : {0, 10, 400, 900, 1300}) {
    tell("faults", Json::parse(format(R"({"path":"watch=true","action":"cut","bytes":%d})", bytes)).value());
  }
  fault_for_session(R"({"path":"watch=true","action":"status","code":500,"body":""})");
  for (int i = 0; i < 12; ++i) {
    make_pod(format("p-%d", i));
    assert_true(follower.catches_up());
  }
  assert_ok(fate->remove(kPods, name_space(), "one"));
  assert_true(follower.catches_up());
  for (const auto& [name, upserts] : follower.upserts) {
    assert_true(upserts == 1 || name == "one");  // each once, cuts or not ("one" also with its last breath)
  }
  assert_int_equal(follower.removals, 1);
}

void it_follows_when_every_watch_is_cut(void**) {
  fault_for_session(R"({"path":"watch=true","action":"cut","bytes":700,"times":0})");
  Follower follower;
  for (int i = 0; i < 6; ++i) {
    make_pod(format("p-%d", i));
    assert_true(follower.catches_up());
    if (i % 2 == 0) assert_ok(fate->remove(kPods, name_space(), format("p-%d", i)));
  }
  assert_true(follower.catches_up());
  assert_int_equal(follower.there.size(), 3);
}

void it_lists_again_when_its_version_is_gone(void**) {
  make_pod("stays");
  make_pod("goes");
  make_pod("again");
  Follower follower;
  assert_true(follower.catches_up());
  // While the watch can't come back, the history is lost: the differences come from a list.
  fault_for_session(R"({"path":"watch=true","action":"close","times":0})");
  follower.reflector->stop();
  follower.reflector->start();
  assert_true(follower.run_until([&] { return !follower.reflector->last_error().empty(); }));
  assert_ok(fate->remove(kPods, name_space(), "goes"));
  assert_ok(fate->remove(kPods, name_space(), "again"));
  make_pod("again");
  make_pod("new");
  tell("compact", Json());
  tell("faults", Json(), "DELETE");
  assert_true(follower.catches_up());
  assert_int_equal(follower.removals, 2);  // "goes", and the first "again"
  assert_int_equal(follower.upserts["stays"], 1);
  assert_int_equal(follower.upserts["again"], 2);
  assert_int_equal(follower.upserts["new"], 1);
}

void a_version_that_the_server_calls_gone_is_dropped(void**) {
  make_pod("one");
  fault_for_session(R"({"path":"watch=true","action":"status","code":200,
            "body":"{\"type\":\"ERROR\",\"object\":{\"code\":410,\"reason\":\"Expired\",)"
                    R"(\"message\":\"too old\"}}\n"})");
  tell("stats", Json(), "DELETE");
  Follower follower;
  assert_true(follower.run_until([&] { return count("list pods") >= 2; }));
  make_pod("two");
  assert_true(follower.catches_up());
  assert_int_equal(follower.upserts["one"], 1);
}

void it_lists_again_when_its_pages_expire(void**) {
  constexpr int kMany = 600;  // more than a page
  int created = 0;
  for (int i = 0; i < kMany; ++i) {
    fate->writer().create({kPods, name_space()}, pod(format("p-%d", i)),
                          [&created](const Result<Json>& answer) { created += answer.ok() ? 1 : 0; });
  }
  assert_true(fate->run_until([&] { return created == kMany; }));
  fault_for_session(R"({"path":"continue=","action":"status","code":410,
            "body":"{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"continue\"}"})");
  Follower follower;
  assert_true(follower.run_until([&] { return follower.there.size() == 500; }));
  assert_ok(fate->remove(kPods, name_space(), "p-0"));  // of the first page
  assert_true(follower.catches_up());
  assert_int_equal(follower.there.size(), kMany - 1);
  for (const auto& [name, upserts] : follower.upserts) assert_int_equal(upserts, 1);
  assert_int_equal(follower.removals, 1);
}

void it_waits_as_long_as_it_is_told(void**) {
  fault_for_session(R"({"path":"/pods","action":"status","code":429,"retry_after":2,"body":""})");
  Follower follower;
  const auto begun = std::chrono::steady_clock::now();
  assert_true(follower.run_until([&] { return !follower.reflector->last_error().empty(); }));
  assert_true(follower.catches_up());
  assert_true(std::chrono::steady_clock::now() - begun >= 1900ms);
  assert_true(follower.run_until([&] { return follower.reflector->last_error().empty(); }));
}

void it_bears_a_server_that_is_away(void**) {
  make_pod("one");
  fault_for_session(R"({"path":"/pods","action":"close","times":4})");
  Follower follower;
  assert_true(follower.catches_up());
  assert_int_equal(follower.upserts["one"], 1);
}

}  // namespace

std::vector<CMUnitTest> watch_faults() {
  return {
      SLURMK8S_FAULT_TEST(a_watch_in_small_pieces_is_whole),
      SLURMK8S_FAULT_TEST(half_a_line_is_no_event),
      SLURMK8S_FAULT_TEST(bad_events_end_the_watch),
      SLURMK8S_FAULT_TEST(a_silent_stream_is_dead),
      SLURMK8S_FAULT_TEST(it_follows_through_cuts),
      SLURMK8S_FAULT_TEST(it_follows_when_every_watch_is_cut),
      SLURMK8S_FAULT_TEST(it_lists_again_when_its_version_is_gone),
      SLURMK8S_FAULT_TEST(a_version_that_the_server_calls_gone_is_dropped),
      SLURMK8S_FAULT_TEST(it_lists_again_when_its_pages_expire),
      SLURMK8S_FAULT_TEST(it_waits_as_long_as_it_is_told),
      SLURMK8S_FAULT_TEST(it_bears_a_server_that_is_away),
  };
}

}  // namespace slurmk8s::contract
