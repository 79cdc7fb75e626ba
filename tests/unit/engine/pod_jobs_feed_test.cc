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
  std::string handed;  // "12 all, 12 13": what the plugin got
  std::string pushed;
  PodJobsFeed feed{[this](const PodJobs& jobs, bool report_all) -> std::uint64_t {
                     if (refuses) return 0;
                     if (!handed.empty()) handed += ", ";
                     for (const auto& [id, nodes] : jobs) handed += std::to_string(id) + " ";
                     handed += report_all ? "all" : "changes";
                     return ++number;
                   },
                   [this](ControlServer::Id bridge, const Json& message) {
                     pushed += std::to_string(bridge) + ": " + message.dump() + "\n";
                     return !is_gone;
                   }};

  Status take(PodJobs jobs, ControlServer::Id bridge) { return feed.take(encode_pod_jobs(jobs), bridge); }
};

void a_report_counts_what_was_taken(void**) {
  Fixture f;
  f.number = 40;  // of bridges before
  assert_ok(f.take({{12, "c-0"}}, 7));
  assert_ok(f.take({{12, "c-0"}, {13, ""}}, 7));
  assert_text(f.handed, "12 all, 12 13 changes");
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
  assert_ok(f.take({{12, ""}}, 7));
  assert_ok(f.take({{13, ""}}, 8));
  assert_text(f.handed, "12 all, 13 all");
  f.feed.report(1, {{12, true}});
  assert_text(f.pushed, "");
  f.feed.report(2, {{13, false}});
  assert_text(f.pushed, "8: {\"report\":1,\"running\":[],\"not_running\":[13]}\n");
  assert_true(f.feed.is_bridge(8) && !f.feed.is_bridge(7) && !f.feed.is_bridge(0));
}

void nothing_goes_to_a_bridge_that_is_gone(void**) {
  Fixture f;
  assert_ok(f.take({}, 7));
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
  assert_error(f.take({}, 7), Errc::unavailable, "starting or ending");
  assert_false(f.feed.is_bridge(7));
  PodJobsFeed without({}, {});
  assert_error(without.take(encode_pod_jobs({}), 7), Errc::unavailable, "PrEpPlugins=prep/k8s");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_report_counts_what_was_taken),
      SLURMK8S_TEST(a_new_bridge_gets_no_old_report),
      SLURMK8S_TEST(nothing_goes_to_a_bridge_that_is_gone),
      SLURMK8S_TEST(what_is_not_taken_is_an_error),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
