// SPDX-License-Identifier: GPL-2.0-or-later
// engine/pod_jobs_feed: each report says how many messages of its own bridge slurmctld has taken, and none goes astray.
#include "engine/pod_jobs_feed.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

struct Fixture {
  std::uint64_t number = 0;
  bool refuses = false;
  bool is_gone = false;
  std::string handed;  // "all 12, 13 -12": what the plugin got
  std::string pushed;
  PodJobsFeed feed{[this](const PodJobsChange& change) -> std::uint64_t {
                     if (refuses) return 0;
                     if (!handed.empty()) handed += ",";
                     if (change.is_all) handed += " all";
                     for (const auto& [id, where] : change.jobs) handed += " " + std::to_string(id);
                     for (const std::uint32_t id : change.gone) handed += " -" + std::to_string(id);
                     return ++number;
                   },
                   [this](ControlServer::Id bridge, const Json& message) {
                     pushed += std::to_string(bridge) + ": " + message.dump() + "\n";
                     return !is_gone;
                   }};

  Status take(const PodJobsChange& change, ControlServer::Id bridge) {
    return feed.take(encode_pod_jobs(change), bridge);
  }
};

void a_report_counts_what_was_taken(void**) {
  Fixture f;
  f.number = 40;  // of bridges before
  assert_ok(f.take({true, {{12, {"c-0"}}}}, 7));
  assert_ok(f.take({false, {{13, {}}}, {12}}, 7));
  assert_text(f.handed, " all 12, 13 -12");
  f.feed.report(41, {{12, true}});
  f.feed.report(41, {{12, false}});
  f.feed.report(42, {});
  assert_text(f.pushed, R"(7: {"report":1,"running":[12],"not_running":[]}
7: {"report":1,"running":[],"not_running":[12]}
7: {"report":2,"running":[],"not_running":[]}
)");
}

// It was about the jobs of the one before.
void a_new_bridge_gets_no_old_report(void**) {
  Fixture f;
  assert_ok(f.take({true, {{12, {}}}}, 7));
  assert_ok(f.take({true, {{13, {}}}}, 8));
  assert_text(f.handed, " all 12, all 13");
  f.feed.report(1, {{12, true}});
  assert_text(f.pushed, "");
  f.feed.report(2, {{13, false}});
  assert_text(f.pushed, "8: {\"report\":1,\"running\":[],\"not_running\":[13]}\n");
  assert_true(f.feed.is_bridge(8) && !f.feed.is_bridge(7) && !f.feed.is_bridge(0));
}

// The plugin has the jobs of another one, or none.
void a_new_bridge_begins_with_all_jobs(void**) {
  Fixture f;
  assert_ok(f.take({true, {{12, {}}}}, 7));
  assert_error(f.take({false, {{13, {}}}}, 8), Errc::invalid, "all: must be true in the first message");
  assert_true(f.feed.is_bridge(7));
  f.refuses = true;
  assert_error(f.take({false, {{14, {}}}}, 7), Errc::unavailable, "starting or ending");
  f.refuses = false;
  assert_error(f.take({false, {{15, {}}}}, 7), Errc::invalid, "all: must be true");
  assert_ok(f.take({true, {{12, {}}, {14, {}}, {15, {}}}}, 7));
  assert_text(f.handed, " all 12, all 12 14 15");
}

// Whatever a process says there, slurmctld's memory is bounded.
void all_messages_together_have_a_limit(void**) {
  Fixture f;
  PodJobsChange change{true};
  for (std::uint32_t id = 1; id <= kMaxPodJobs; ++id) change.jobs[id] = {};
  assert_ok(f.take(change, 7));
  assert_ok(f.take({false, {{kMaxPodJobs + 1, {}}}, {1}}, 7));
  assert_error(f.take({false, {{1, {}}}}, 7), Errc::invalid, "jobs: must be at most 10000");
  assert_false(f.feed.is_bridge(7));
  assert_ok(f.take(change, 7));
}

void nothing_goes_to_a_bridge_that_is_gone(void**) {
  Fixture f;
  assert_ok(f.take({true}, 7));
  f.is_gone = true;
  f.feed.report(1, {});
  f.pushed.clear();
  f.feed.report(2, {{12, true}});
  assert_text(f.pushed, "");
  assert_false(f.feed.is_bridge(7));
}

void what_is_not_taken_is_an_error(void**) {
  Fixture f;
  assert_error(f.feed.take(Json::object(), 7), Errc::invalid, "jobs");
  f.refuses = true;
  assert_error(f.take({true}, 7), Errc::unavailable, "starting or ending");
  assert_false(f.feed.is_bridge(7));
  PodJobsFeed without({}, {});
  assert_error(without.take(encode_pod_jobs({}), 7), Errc::unavailable, "PrEpPlugins=prep/k8s");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_report_counts_what_was_taken),        SLURMK8S_TEST(a_new_bridge_gets_no_old_report),
      SLURMK8S_TEST(a_new_bridge_begins_with_all_jobs),     SLURMK8S_TEST(all_messages_together_have_a_limit),
      SLURMK8S_TEST(nothing_goes_to_a_bridge_that_is_gone), SLURMK8S_TEST(what_is_not_taken_is_an_error),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
