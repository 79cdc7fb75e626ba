// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/object_cache: when the API server is asked for an object, and what is known of it.
#include "bridge/object_cache.hpp"

#include <vector>

#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::seconds;
using Cache = ObjectCache<std::string, std::string>;  // by name, the claim's volume

struct World {
  kube::FakeClient client;
  FakeClock clock;
  std::vector<std::string> changed;
  Cache cache;

  explicit World(seconds max_retry = seconds(60))
      : cache(client, clock,
              {.locate =
                   [](const std::string& name) {
                     return kube::ObjectRef{kube::kVolumeClaims, "a", name};
                   },
               .decode =
                   [](const std::string&, const Json& claim) {
                     return std::string(claim.at({"spec", "volumeName"}).text());
                   },
               .is_finished = [](const std::string& volume) { return !volume.empty(); },
               .max_retry = max_retry,
               .changed = [this](const std::string& name) { changed.push_back(name); }}) {}

  void put(const char* name, const char* volume) {
    client.put(kube::kVolumeClaims, "a",
               *Json::parse(format(R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "%s"}, "spec": {"volumeName": "%s"}})",
                                   name, volume)));
  }
  /** Looks each second for so long; returns the seconds at which the API server was asked. */
  std::string asked_at(int end) {
    std::string times;
    for (int second = 0; second <= end; ++second) {
      const std::size_t before = client.count(Verb::get);
      cache.find("d");
      if (client.count(Verb::get) > before) times += (times.empty() ? "" : " ") + std::to_string(second);
      client.deliver();
      clock.advance(seconds(1));
    }
    return times;
  }
};

void sixteen_are_read_at_a_time(void**) {
  World w;
  for (int i = 0; i < 40; ++i) {
    w.put(("d" + std::to_string(i)).c_str(), "v");
    w.cache.find("d" + std::to_string(i));
    w.cache.find("d" + std::to_string(i));  // asked for already
  }
  assert_int_equal(w.client.count(Verb::get), 16);
  w.client.step();
  assert_int_equal(w.client.count(Verb::get), 17);
  w.client.deliver();
  assert_int_equal(w.client.count(Verb::get), 40);
  assert_int_equal(w.changed.size(), 40);
  assert_text(w.changed[0], "d0");
  assert_text(w.changed[39], "d39");
}

void pauses_grow(void**) {
  const struct {
    const char* what;
    const char* volume;  // null: no such object
    seconds max_retry;
    std::optional<Error> error;  // of the first four reads
    const char* times;
  } cases[] = {
      {"finished", "v", seconds(60), {}, "0 60 120"},
      {"unfinished", "", seconds(60), {}, "0 5 15 35 75 135"},
      {"absent", nullptr, seconds(60), {}, "0 5 15 35 75 135"},
      {"absent, another maximum", nullptr, seconds(10), {}, "0 5 15 25 35 45 55 65 75 85 95 105 115 125 135"},
      {"unreadable", "v", seconds(60), Error(Errc::unavailable, "away"), "0 5 15 35 75 135"},
      {"the server's own time", "v", seconds(60), Error(Errc::throttled, "later", seconds(12)), "0 12 24 44 84"},
      {"never longer than a minute", "v", seconds(60), Error(Errc::throttled, "later", seconds(900)), "0 60 120"},
  };
  for (const auto& c : cases) {
    World w(c.max_retry);
    if (c.volume != nullptr) w.put("d", c.volume);
    if (c.error) w.client.fail_next(Verb::get, *c.error, 4);
    const std::string times = w.asked_at(140);
    if (times != c.times) fail_msg("%s: asked at %s, not %s", c.what, times.c_str(), c.times);
  }
}

void a_failed_read_says_nothing_of_the_object(void**) {
  World w;
  assert_false(w.cache.find("d").value.has_value());
  w.put("d", "v");
  w.client.deliver();
  assert_text(*w.cache.find("d").value, "v");
  assert_text(w.cache.find("d").error, "");

  w.clock.advance(seconds(60));
  w.client.fail_next(Verb::get, Error(Errc::unavailable, "away"));
  w.cache.find("d");
  w.client.deliver();
  assert_text(*w.cache.find("d").value, "v");
  assert_text(w.cache.find("d").absent, "");
  assert_contains(w.cache.find("d").error, "away");

  // Deleted: an answer, which a failed read leaves as it is.
  w.client.erase(kube::kVolumeClaims, "a", "d");
  for (int i = 0; i < 2; ++i) {
    w.clock.advance(seconds(60));
    w.cache.find("d");
    w.client.deliver();
    assert_false(w.cache.find("d").value.has_value());
    assert_contains(w.cache.find("d").absent, "not found");
    w.client.fail_next(Verb::get, Error(Errc::unavailable, "away"));
  }
  w.client.forgive();

  w.put("d", "w");
  w.clock.advance(seconds(60));
  w.cache.find("d");
  w.client.deliver();
  assert_text(*w.cache.find("d").value, "w");
  assert_text(w.cache.find("d").absent + w.cache.find("d").error, "");
}

void forgets_what_is_not_asked_for(void**) {
  World w;
  w.put("d", "v");
  w.cache.find("d");
  w.clock.advance(seconds(120));
  w.cache.prune();
  assert_true(w.cache.contains("d"));  // being read
  w.client.deliver();
  w.cache.prune();
  assert_false(w.cache.contains("d"));
}

void an_answer_after_the_end_is_not_heard(void**) {
  kube::FakeClient client;
  FakeClock clock;
  {
    Cache cache(client, clock,
                {.locate =
                     [](const std::string& name) {
                       return kube::ObjectRef{kube::kVolumeClaims, "a", name};
                     },
                 .decode = [](const std::string&, const Json&) { return std::string(); },
                 .is_finished = [](const std::string&) { return true; },
                 .changed = [](const std::string&) { fail_msg("heard"); }});
    cache.find("d");
  }
  client.deliver();
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_failed_read_says_nothing_of_the_object),
      SLURMK8S_TEST(an_answer_after_the_end_is_not_heard),
      SLURMK8S_TEST(forgets_what_is_not_asked_for),
      SLURMK8S_TEST(pauses_grow),
      SLURMK8S_TEST(sixteen_are_read_at_a_time),
  };
  return cmocka_run_group_tests_name("bridge_object_cache", tests, nullptr, nullptr);
}
