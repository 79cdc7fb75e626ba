// SPDX-License-Identifier: GPL-2.0-or-later
// kube/reflector: what a listener hears, whatever happens to the connection.
#include "kube/reflector.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/**
 * A reflector of the pods in `slurm`, and what its listener heard: "+name:phase", "-name:uid" ('*' when from a relist),
 * "S".
 */
struct World {
  FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  std::string heard;
  std::function<void()> at_event = [] {};
  Reflector reflector{client,
                      timers,
                      clock,
                      {.resource = kPods, .name_space = "slurm", .label_selector = "app=slurmd"},
                      {.upsert = [this](const Json& object) { upserted(object); },
                       .remove = [this](const ObjectKey& key, const std::string& uid,
                                        const Json& last) { removed(key.name, uid, last); },
                       .synced = [this] { note("S"); }}};

  void note(const std::string& what) {
    heard += (heard.empty() ? "" : " ") + what;
    at_event();
  }
  void upserted(const Json& object) {
    const std::string phase(object.at({"status", "phase"}).text());
    note("+" + std::string(object.at({"metadata", "name"}).text()) + (phase.empty() ? "" : ":" + phase));
  }
  void removed(const std::string& name, const std::string& uid, const Json& last) {
    note("-" + name + ":" + uid + (last.is_null() ? "*" : ""));
  }

  Json put(const std::string& name, const std::string& phase = "", bool ours = true) {
    Json pod = Json::object();
    const Json labels = Json::object().set("app", ours ? "slurmd" : "other");
    Json metadata = Json::object();
    metadata.set("name", name).set("labels", labels);
    pod.set("metadata", metadata);
    if (!phase.empty()) pod.set("status", Json::object().set("phase", phase));
    return client.put(kPods, "slurm", pod);
  }
  void erase(const std::string& name) { client.erase(kPods, "slurm", name); }

  /** Everything that is due within the time, in small steps. */
  void pass(milliseconds time) {
    client.deliver();
    for (milliseconds passed{0}; passed < time; passed += milliseconds(50)) {
      clock.advance(milliseconds(50));
      timers.run_due();
      client.deliver();
    }
  }
  void run() { pass(milliseconds(0)); }
  std::string take() { return std::exchange(heard, {}); }
};

void lists_then_watches(void**) {
  World world;
  world.put("a", "Running");
  world.put("b");
  world.put("foreign", "", false);
  world.run();
  assert_int_equal(world.client.calls.size(), 0);  // not before start()
  world.reflector.start();
  assert_false(world.reflector.synced());
  world.run();
  assert_text(world.take(), "+a:Running +b S");
  assert_true(world.reflector.synced());
  world.put("c");
  world.put("b", "Pending");
  world.erase("a");
  world.put("foreign", "Running", false);
  world.run();
  assert_text(world.take(), "+c +b:Pending -a:uid-1");
  assert_int_equal(world.client.count(Verb::list), 1);
  assert_int_equal(world.client.count(Verb::watch), 1);
}

void an_empty_list_is_synced_once(void**) {
  World world;
  world.reflector.start();
  world.reflector.start();
  world.run();
  assert_text(world.take(), "S");
  world.client.forget_history();
  world.client.end_watches(Error(Errc::gone, "too old"));
  world.pass(seconds(2));
  assert_text(world.take(), "");
  assert_int_equal(world.client.count(Verb::list), 2);
}

void reads_all_pages(void**) {
  World world;
  for (int i = 0; i < 1203; ++i) world.put(format("p-%04d", i));
  world.reflector.start();
  world.run();
  assert_int_equal(world.client.count(Verb::list), 3);
  assert_int_equal(split(world.heard, ' ').size(), 1204);
  assert_true(world.heard.ends_with("+p-1202 S"));
}

void a_page_that_is_too_old_starts_the_list_again(void**) {
  World world;
  for (int i = 0; i < 600; ++i) world.put(format("p-%04d", i));
  world.reflector.start();
  world.client.step();  // the first page
  world.client.forget_history();
  world.erase("p-0000");
  world.pass(seconds(1));
  assert_true(world.reflector.synced());
  assert_int_equal(split(world.heard, ' ').size(), 602);  // 600, one removal, synced: what was heard isn't heard again
  assert_true(world.heard.ends_with("-p-0000:uid-1* S"));
}

void a_cut_resumes_without_a_list(void**) {
  World world;
  world.put("a");
  world.reflector.start();
  world.run();
  world.take();
  world.client.end_watches(Error(Errc::unavailable, "cut"));
  world.run();
  assert_text(world.reflector.last_error(), "watch: cut");
  world.put("b");
  world.erase("a");
  world.pass(seconds(1));
  assert_text(world.take(), "+b -a:uid-1");
  assert_text(world.reflector.last_error(), "");
  assert_int_equal(world.client.count(Verb::list), 1);
  assert_int_equal(world.client.count(Verb::watch), 2);
}

void the_servers_own_end_is_no_failure(void**) {
  World world;
  world.reflector.start();
  world.pass(seconds(300));
  world.client.end_watches({});
  world.run();
  assert_int_equal(world.client.open_watches(), 1);  // again at once
  assert_text(world.reflector.last_error(), "");
  assert_int_equal(world.client.count(Verb::list), 1);
}

void watches_that_end_at_once_back_off(void**) {
  World world;
  world.reflector.start();
  world.run();
  for (int i = 0; i < 400; ++i) {
    world.client.end_watches({});
    world.pass(milliseconds(50));
  }
  // 20 s with a proxy that closes each watch: a handful of tries, not 400.
  assert_in_range(world.client.count(Verb::watch), 4, 12);
}

void an_expired_version_shows_the_difference(void**) {
  World world;
  world.put("stays");
  world.put("changes");
  world.put("goes");
  world.put("again");
  world.reflector.start();
  world.run();
  world.take();
  world.client.end_watches(Error(Errc::unavailable, "cut"));
  world.run();
  world.put("changes", "Running");
  world.erase("goes");
  world.erase("again");
  world.put("again");
  world.put("new");
  world.client.forget_history();
  world.pass(seconds(2));
  assert_text(world.take(), "-again:uid-4* +again +changes:Running +new -goes:uid-3*");
  assert_int_equal(world.client.count(Verb::list), 2);
  world.put("later");
  world.run();
  assert_text(world.take(), "+later");
}

void deleted_and_made_again_within_one_watch(void**) {
  World world;
  world.put("a");
  world.reflector.start();
  world.run();
  world.take();
  world.erase("a");
  world.put("a");
  world.run();
  assert_text(world.take(), "-a:uid-1 +a");
}

void an_error_event_lists_again_when_it_must(void**) {
  const struct {
    Errc code;
    std::size_t lists;
  } cases[] = {{Errc::gone, 2},         {Errc::invalid, 2}, {Errc::forbidden, 2},   {Errc::not_found, 2},
               {Errc::internal, 2},     {Errc::timeout, 1}, {Errc::unavailable, 1}, {Errc::throttled, 1},
               {Errc::unauthorized, 1}, {Errc::protocol, 1}};
  for (const auto& c : cases) {
    World world;
    world.reflector.start();
    world.run();
    world.client.end_watches(Error(c.code, "said the server"));
    world.pass(seconds(1));
    assert_int_equal(world.client.count(Verb::list), c.lists);
    assert_int_equal(world.client.open_watches(), 1);
  }
}

void says_when_it_is_forbidden(void**) {
  World world;
  world.client.fail_next(Verb::list, Error(Errc::forbidden, "said the server"));
  world.reflector.start();
  world.run();
  assert_true(world.reflector.forbidden());
  world.pass(seconds(5));
  assert_false(world.reflector.forbidden());
  world.client.end_watches(Error(Errc::unavailable, "cut"));
  world.client.fail_next(Verb::watch, Error(Errc::forbidden, "said the server"), 4);
  world.pass(seconds(3));
  assert_true(world.reflector.forbidden());
  world.pass(seconds(60));
  assert_false(world.reflector.forbidden());
}

void bookmarks_move_the_version(void**) {
  World world;
  world.put("a");
  world.reflector.start();
  world.run();
  world.take();
  world.put("foreign", "", false);
  world.client.send_bookmarks();
  world.run();
  world.client.forget_history();  // up to the bookmark
  world.client.end_watches(Error(Errc::unavailable, "cut"));
  world.put("b");
  world.pass(seconds(2));
  assert_text(world.take(), "+b");
  assert_int_equal(world.client.count(Verb::list), 1);
}

void a_version_that_never_comes_is_given_up(void**) {
  // etcd was restored from a backup: the server knows only older versions and answers 504 to each watch.
  World world;
  world.reflector.start();
  world.run();
  world.client.end_watches(Error(Errc::unavailable, "cut"));
  world.client.fail_next(Verb::watch, Error(Errc::timeout, "Too large resource version"), 2);
  world.pass(seconds(5));
  assert_int_equal(world.client.count(Verb::list), 2);
  assert_int_equal(world.client.open_watches(), 1);
}

void failing_lists_back_off_and_heal(void**) {
  World world;
  world.put("a");
  world.client.fail_next(Verb::list, Error(Errc::unavailable, "connection refused"), 1000);
  world.reflector.start();
  world.pass(seconds(60));
  assert_text(world.reflector.last_error(), "list: connection refused");
  assert_false(world.reflector.synced());
  assert_in_range(world.client.count(Verb::list), 10, 22);  // 200 ms, 400 ms … 10 s, half of each at least
  const std::size_t tries = world.client.count(Verb::list);
  world.pass(seconds(600));
  assert_in_range(world.client.count(Verb::list) - tries, 59, 121);
}

void retry_after_is_kept(void**) {
  World world;
  world.client.fail_next(Verb::list, Error(Errc::throttled, "slow down", seconds(20)));
  world.reflector.start();
  world.pass(milliseconds(19900));
  assert_int_equal(world.client.count(Verb::list), 1);
  world.pass(milliseconds(200));
  assert_int_equal(world.client.count(Verb::list), 2);
}

void no_retry_after_silences_for_ever(void**) {
  World world;
  world.client.fail_next(Verb::list, Error(Errc::throttled, "slow down", std::chrono::hours(1000)));
  world.reflector.start();
  world.pass(seconds(301));
  assert_int_equal(world.client.count(Verb::list), 2);
}

void stop_in_any_callback_ends_it(void**) {
  // The n-th event stops it: during the list, at synced, during the watch, during a relist.
  for (std::size_t n = 1; n <= 8; ++n) {
    World world;
    std::size_t events = 0;
    world.at_event = [&] {
      if (++events == n) world.reflector.stop();
    };
    world.put("a");
    world.put("b");
    world.reflector.start();  // +a +b S
    world.run();
    world.put("a", "Running");  // +a
    world.erase("b");           // -b
    world.run();
    world.client.end_watches(Error(Errc::gone, "too old"));
    world.erase("a");
    world.put("a");
    world.put("c");
    world.pass(seconds(5));  // -a +a +c
    assert_int_equal(events, n);
    assert_int_equal(world.client.open_watches(), 0);
    assert_false(world.timers.until_next().has_value());
    assert_int_equal(world.client.deliver(), 0);
  }
}

void stop_ends_what_is_under_way(void**) {
  World listing;
  listing.reflector.start();
  listing.reflector.stop();
  listing.pass(seconds(5));
  assert_text(listing.heard, "");

  World waiting;
  waiting.client.fail_next(Verb::list, Error(Errc::unavailable, "down"));
  waiting.reflector.start();
  waiting.run();
  waiting.reflector.stop();
  waiting.pass(seconds(5));
  assert_int_equal(waiting.client.count(Verb::list), 1);
}

void a_second_start_shows_the_difference(void**) {
  World world;
  world.put("a");
  world.put("b");
  world.reflector.start();
  world.run();
  world.reflector.stop();
  world.take();
  world.erase("a");
  world.put("c");
  world.run();
  assert_text(world.take(), "");
  world.reflector.start();
  world.run();
  assert_text(world.take(), "+c -a:uid-1*");
}

void equal_names_of_two_namespaces_are_two_objects(void**) {
  FakeClient client;
  FakeClock clock;
  Timers timers(clock);
  std::string heard;
  const auto put = [&](const char* name_space, const char* phase) {
    const Json metadata = Json::object().set("name", "a");
    return client.put(kPods, name_space,
                      Json::object().set("metadata", metadata).set("status", Json::object().set("phase", phase)));
  };
  Reflector reflector(client, timers, clock, {.resource = kPods, .field_selector = "status.phase!=Failed"},
                      {.upsert =
                           [&](const Json& object) {
                             heard += "+" + std::string(object.at({"metadata", "namespace"}).text()) + " ";
                           },
                       .remove = [&](const ObjectKey& key, const std::string& uid,
                                     const Json&) { heard += "-" + key.name_space + "/" + key.name + ":" + uid + " "; },
                       .synced = {}});
  put("one", "Pending");
  put("two", "Pending");
  reflector.start();
  client.deliver();
  assert_text(heard, "+one +two ");
  assert_true(reflector.knows({"one", "a"}, "uid-1"));
  assert_true(reflector.knows({"two", "a"}, "uid-2"));
  assert_false(reflector.knows({"", "a"}, "uid-1"));
  heard.clear();
  put("two", "Running");
  put("one", "Failed");  // leaves the selection
  client.deliver();
  assert_text(heard, "+two -one/a:uid-1 ");
  heard.clear();
  client.end_watches(Error(Errc::gone, "too old"));
  client.deliver();
  client.erase(kPods, "two", "a");
  put("one", "Pending");
  clock.advance(seconds(2));
  timers.run_due();
  client.deliver();
  assert_text(heard, "+one -two/a:uid-2 ");
}

void what_is_omitted_is_not_delivered(void**) {
  static constexpr std::array<std::string_view, 2> kOmit{"managedFields", "containers"};
  FakeClient client;
  FakeClock clock;
  Timers timers(clock);
  std::string heard;
  Reflector reflector(
      client, timers, clock, {.resource = kPods, .name_space = "slurm", .omit = kOmit},
      {.upsert = [&](const Json& object) { heard += object["spec"].dump(); }, .remove = {}, .synced = {}});
  const auto put = [&client](const char* name) {
    Json pod = Json::object().set("metadata", Json::object().set("name", name));
    client.put(kPods, "slurm", pod.set("spec", *Json::parse(R"({"containers":[{"name":"c"}],"nodeName":"m"})")));
  };
  put("listed");
  reflector.start();
  client.deliver();
  put("watched");
  client.deliver();
  assert_text(heard, R"({"nodeName":"m"}{"nodeName":"m"})");
}

void the_destructor_stops(void**) {
  FakeClient client;
  FakeClock clock;
  Timers timers(clock);
  {
    Reflector reflector(client, timers, clock, {.resource = kPods, .name_space = "slurm"}, {});
    reflector.start();
    client.deliver();
    assert_int_equal(client.open_watches(), 1);
  }
  assert_int_equal(client.open_watches(), 0);
  assert_int_equal(client.deliver(), 0);
}

void callbacks_may_be_missing(void**) {
  World world;
  Reflector silent(world.client, world.timers, world.clock, {.resource = kPods, .name_space = "slurm"}, {});
  world.put("a");
  silent.start();
  world.run();
  world.put("a", "Running");
  world.erase("a");
  world.put("a");
  world.run();
  assert_true(silent.synced());
}

}  // namespace
}  // namespace slurmk8s::kube

int main() {
  using namespace slurmk8s::kube;
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(lists_then_watches),
      SLURMK8S_TEST(an_empty_list_is_synced_once),
      SLURMK8S_TEST(reads_all_pages),
      SLURMK8S_TEST(a_page_that_is_too_old_starts_the_list_again),
      SLURMK8S_TEST(a_cut_resumes_without_a_list),
      SLURMK8S_TEST(the_servers_own_end_is_no_failure),
      SLURMK8S_TEST(watches_that_end_at_once_back_off),
      SLURMK8S_TEST(an_expired_version_shows_the_difference),
      SLURMK8S_TEST(deleted_and_made_again_within_one_watch),
      SLURMK8S_TEST(an_error_event_lists_again_when_it_must),
      SLURMK8S_TEST(bookmarks_move_the_version),
      SLURMK8S_TEST(says_when_it_is_forbidden),
      SLURMK8S_TEST(a_version_that_never_comes_is_given_up),
      SLURMK8S_TEST(failing_lists_back_off_and_heal),
      SLURMK8S_TEST(retry_after_is_kept),
      SLURMK8S_TEST(no_retry_after_silences_for_ever),
      SLURMK8S_TEST(stop_in_any_callback_ends_it),
      SLURMK8S_TEST(stop_ends_what_is_under_way),
      SLURMK8S_TEST(a_second_start_shows_the_difference),
      SLURMK8S_TEST(equal_names_of_two_namespaces_are_two_objects),
      SLURMK8S_TEST(what_is_omitted_is_not_delivered),
      SLURMK8S_TEST(the_destructor_stops),
      SLURMK8S_TEST(callbacks_may_be_missing),
  };
  return cmocka_run_group_tests_name("kube_reflector", tests, nullptr, nullptr);
}
