// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/config_report: the condition of each controller's pod, and the event of the ConfigMap.
#include "sidecar/config_report.hpp"

#include <set>

#include "daemon/condition.hpp"
#include "sidecar/config_plan.hpp"
#include "support/cmocka.hpp"
#include "support/fake_client.hpp"
#include "support/fake_clock.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Fixture {
  kube::FakeClient client;
  FakeClock clock;
  Timers timers{clock};
  kube::Throttle throttle{clock};
  std::unique_ptr<ConfigReport> report;
  int ready = 0;

  /** A sidecar, instead of one that ends. */
  void start() {
    report = std::make_unique<ConfigReport>(ConfigReportParts{client, client, timers, clock, throttle}, "slurm",
                                            std::vector<std::string>{"pod-0", "pod-1"});
    report->start([this] { ready++; });
    run_for(seconds(1));
  }
  void make(const std::string& pod) {
    client.put(kube::kPods, "slurm", Json::object().set("metadata", Json::object().set("name", pod)));
  }
  void tell(const char* reason, const char* text, bool is_change = false) {
    report->tell({reason, text, is_change}, "conf", "1");
    run_for(seconds(2));
  }
  void run_for(milliseconds time) {
    for (const TimePoint end = clock.now() + time; clock.now() < end;) {
      if (client.deliver() == 0) clock.advance(milliseconds(50));
      timers.run_due();
    }
  }
  Json condition(const std::string& pod) const {
    return find_condition(client.find(kube::kPods, "slurm", pod)["status"], kConditionConfigApplied);
  }
  std::string text(const std::string& pod) const {
    const Json found = condition(pod);
    if (found.is_null()) return "";
    return std::string(found["status"].text()) + " " + std::string(found["message"].text());
  }
  /** The notes of all events, sorted: the events' names are random. */
  std::string events() const {
    std::multiset<std::string> notes;
    for (const std::string& name : client.names(kube::kEvents, "slurm"))
      notes.emplace(client.find(kube::kEvents, "slurm", name)["note"].text());
    std::string text;
    for (const std::string& note : notes) text.append(note).append("\n");
    return text;
  }
};

void tells_both_pods(void**) {
  Fixture f;
  f.make("pod-0");
  f.make("pod-1");
  f.start();
  assert_int_equal(f.ready, 1);
  f.tell(kConfigRefused, "one");
  assert_text(f.text("pod-0"), "False one");
  assert_text(f.text("pod-1"), "False one");
  f.tell(kConfigApplied, "two");
  assert_text(f.text("pod-0"), "True two");
  assert_text(f.text("pod-1"), "True two");
  assert_text(f.events(), "one\ntwo\n");
  const std::size_t patches = f.client.count(kube::Verb::patch);
  f.tell(kConfigApplied, "two");
  assert_int_equal(f.client.count(kube::Verb::patch), patches);
}

void counts_what_it_tells(void**) {
  Fixture f;
  f.make("pod-0");
  f.start();
  assert_true(f.report->counts().told.empty());
  f.tell(kConfigRefused, "one");
  f.tell(kConfigRefused, "one");
  assert_int_equal(f.report->counts().told.at(kConfigRefused), 1);
  assert_false(f.report->counts().is_applied);
  assert_true(f.report->counts().applied_at.time_since_epoch().count() == 0);
  const auto now = f.clock.wall();
  f.tell(kConfigApplied, "two");
  assert_true(f.report->counts().is_applied);
  assert_true(f.report->counts().applied_at == now);
  f.tell(kConfigRefused, "three");
  assert_int_equal(f.report->counts().told.at(kConfigRefused), 2);
  assert_false(f.report->counts().is_applied);
  assert_true(f.report->counts().applied_at == now);
}

void tells_the_one_that_is_there(void**) {
  Fixture f;
  f.make("pod-1");
  f.start();
  assert_int_equal(f.ready, 1);
  f.tell(kConfigRefused, "one");
  assert_text(f.text("pod-1"), "False one");
  assert_int_equal(f.client.count(kube::Verb::patch), 1);
}

void tells_a_pod_that_is_made_again(void**) {
  Fixture f;
  f.make("pod-0");
  f.make("pod-1");
  f.start();
  f.tell(kConfigApplied, "one");
  f.client.erase(kube::kPods, "slurm", "pod-1");
  f.run_for(seconds(1));
  f.make("pod-1");
  f.run_for(seconds(1));
  assert_text(f.text("pod-1"), "True one");
  assert_text(f.events(), "");
}

void tries_a_refused_write_again(void**) {
  Fixture f;
  f.make("pod-0");
  f.start();
  f.client.fail_next(kube::Verb::patch, Error(Errc::unavailable, "no answer"));
  f.tell(kConfigApplied, "one");
  f.run_for(seconds(5));
  assert_text(f.text("pod-0"), "True one");
}

/** What a former sidecar has told, or not; which event the next one records for "two". */
void records_what_no_pod_has(void**) {
  const struct {
    const char* name;
    const char* former;  ///< its last words
    const char* reason;
    bool is_change;
    const char* events;
  } rows[] = {
      {"a new cluster", nullptr, kConfigApplied, false, ""},
      {"a new pod, with a changed set", nullptr, kConfigApplied, true, "two\n"},
      {"a new cluster with a broken set", nullptr, kConfigRefused, false, "two\n"},
      {"ended before it told", "one", kConfigApplied, false, "two\n"},
      {"had told it", "two", kConfigApplied, false, ""},
      {"had told of a refusal", "two", kConfigRefused, false, ""},
  };
  for (const auto& row : rows) {
    Fixture f;
    f.make("pod-0");
    f.make("pod-1");
    if (row.former != nullptr) {
      f.start();
      f.tell(row.reason, row.former);
      f.client.erase(kube::kPods, "slurm", "pod-1");  // the other one knows
      f.make("pod-1");
      for (const std::string& name : f.client.names(kube::kEvents, "slurm"))
        f.client.erase(kube::kEvents, "slurm", name);
    }
    f.start();
    f.tell(row.reason, "two", row.is_change);
    if (f.events() != row.events) fail_msg("%s: events: %s", row.name, f.events().c_str());
    assert_text(f.text("pod-1").substr(f.text("pod-1").size() - 3), "two");
  }
}

void keeps_the_time_of_an_unchanged_status(void**) {
  Fixture f;
  f.make("pod-0");
  f.start();
  f.tell(kConfigApplied, "one");
  const std::string since(f.condition("pod-0")["lastTransitionTime"].text());
  f.run_for(seconds(60));
  f.start();
  f.tell(kConfigApplied, "two");
  assert_text(f.text("pod-0"), "True two");
  assert_text(f.condition("pod-0")["lastTransitionTime"].text(), since);
  f.tell(kConfigRefused, "three");
  assert_true(f.condition("pod-0")["lastTransitionTime"].text() != since);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(tells_both_pods),
      SLURMK8S_TEST(counts_what_it_tells),
      SLURMK8S_TEST(tells_the_one_that_is_there),
      SLURMK8S_TEST(tells_a_pod_that_is_made_again),
      SLURMK8S_TEST(tries_a_refused_write_again),
      SLURMK8S_TEST(records_what_no_pod_has),
      SLURMK8S_TEST(keeps_the_time_of_an_unchanged_status),
  };
  return cmocka_run_group_tests_name("sidecar_config_report", tests, nullptr, nullptr);
}
