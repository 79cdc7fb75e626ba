// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's metrics: from what the engine counts to Prometheus' text.
#include "sidecar/metrics.hpp"

#include "base/strings.hpp"
#include "engine/engine_metrics.hpp"
#include "support/cmocka.hpp"
#include "support/prometheus_text.hpp"
#include "support/source_file.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

/** Another value for each metric, as the engine's answer has them. */
Json full_status() {
  EngineMetrics metrics;
  metrics.resumes = 12;
  metrics.suspends = 11;
  metrics.pods_created = 10;
  metrics.pods_deleted = 9;
  metrics.api_errors = 8;
  metrics.api_pauses = 7;
  for (std::size_t cause = 0; cause < metrics.failures.size(); ++cause) metrics.failures[cause] = cause;
  metrics.accepted.observe(3ms);
  metrics.accepted.observe(5ms);  // a bound is part of its bucket
  metrics.accepted.observe(400s);
  metrics.scheduled.observe(1500ms);
  metrics.running.observe(45s);
  metrics.api[static_cast<std::size_t>(ApiVerb::create)].observe(10ms);
  metrics.api[static_cast<std::size_t>(ApiVerb::remove)].observe(20ms);
  metrics.api[static_cast<std::size_t>(ApiVerb::get)].observe(30ms);
  EngineGauges gauges;
  gauges.ready = gauges.paused = true;
  gauges.pods_pending = 1;
  gauges.pods_running = 2;
  gauges.pods_ended = 3;
  gauges.pods_deleting = 4;
  for (std::size_t awaited = 0; awaited < kAwaited; ++awaited) gauges.starting_nodes[awaited] = 10 + awaited;
  gauges.queue_depth = 5;
  gauges.in_flight = 6;
  gauges.backing_off_nodes = 7;
  gauges.protected_nodesets = 8;
  LockTimes locks;
  locks[static_cast<std::size_t>(LockedCall::hold_launch)].observe(3us);
  locks[static_cast<std::size_t>(LockedCall::poll)].observe(30us);
  locks[static_cast<std::size_t>(LockedCall::check_power_save)].observe(20ms);
  locks[static_cast<std::size_t>(LockedCall::wake_power_save)].observe(2s);
  const auto answer = Json::parse(encode_status(metrics, gauges, locks).dump());
  assert_ok(answer);
  return *answer;
}

void tells_what_became_of_configurations(void**) {
  assert_text(encode_config_metrics({}), "");
  ConfigCounts counts{.told = {{"Refused", 2}}};
  assert_text(without_help(encode_config_metrics(counts)),
              "# TYPE slurm_k8s_sidecar_config_applied gauge\n"
              "slurm_k8s_sidecar_config_applied 0\n"
              "# TYPE slurm_k8s_sidecar_config_answers_total counter\n"
              "slurm_k8s_sidecar_config_answers_total{reason=\"Refused\"} 2\n"
              "# TYPE slurm_k8s_sidecar_config_applied_timestamp_seconds gauge\n");
  counts.told["Applied"] = 1;
  counts.is_applied = true;
  counts.applied_at = std::chrono::system_clock::from_time_t(1'700'000'000);
  const std::string text = encode_config_metrics(counts);
  assert_contains(text, "slurm_k8s_sidecar_config_applied 1\n");
  assert_contains(text, "slurm_k8s_sidecar_config_answers_total{reason=\"Applied\"} 1\n");
  assert_contains(text, "slurm_k8s_sidecar_config_applied_timestamp_seconds 1700000000\n");
}

/** Dashboards and alerts of users rely on each name, label and bucket. */
void publishes_what_it_always_has(void**) {
  assert_text(without_help(encode_engine_metrics(full_status())),
              read_source("tests/unit/sidecar/engine_metrics.prom").c_str());
}

void each_metric_has_help_and_documentation(void**) {
  const std::string page = read_source("docs/admin/monitoring.md");
  const Json metrics = full_status()["metrics"];
  assert_true(metrics.size() > 0);
  metrics.each([&](const Json& metric) {
    assert_true(metric["help"].text().ends_with("."));
    const std::string name(metric["name"].text());
    const std::string label(metric["label"].text());
    const std::string row =
        "| `" + name + (label.empty() ? "" : "{" + label + "}") + "` | " + std::string(metric["type"].text()) + " |";
    if (page.find(row) == std::string::npos) fail_msg("docs/admin/monitoring.md has no row %s", row.c_str());
  });
}

/** During an upgrade the two may be of different builds. */
void another_build_of_the_engine(void**) {
  constexpr const char* kUp = "slurm_k8s_engine_up 1\n";
  constexpr const char* kMetric = "# TYPE m gauge\n";
  const struct {
    const char* status;
    const char* expected;
  } cases[] = {
      {R"({"ok":true,"ready":true})", kUp},
      // The first builds named their metrics by members.
      {R"({"ok":true,"ready":true,"pods":{"pending":1},"resumes":3,"resume_steps":{"running":{"counts":[1],"sum":1}}})",
       kUp},
      {R"({"ready":true,"metrics":{}})", kUp},
      {R"({"ready":true,"metrics":[null,7,"x",[],{}]})", kUp},
      {R"({"ready":true,"metrics":[{"name":"m","type":"summary","help":"h","value":1}]})", kUp},
      {R"({"ready":true,"metrics":[{"type":"gauge","help":"h","value":1}]})", kUp},
      {R"({"ready":true,"metrics":[{"name":"m","type":"gauge","value":1,"later":[2]}]})", "# TYPE m gauge\nm 1\n"},
      {R"({"ready":true,"metrics":[{"name":"m","type":"gauge","value":1.5}]})", "# TYPE m gauge\nm 1.5\n"},
      {R"({"ready":true,"metrics":[{"name":"m","type":"gauge"}]})", kMetric},
      {R"({"ready":true,"metrics":[{"name":"m","type":"gauge","value":"1"}]})", kMetric},
      {R"({"ready":true,"metrics":[{"name":"m","type":"gauge","label":"l","value":1}]})", kMetric},
      {R"({"ready":true,"metrics":[{"name":"m","type":"gauge","label":"l","value":{"a":1,"b":[]}}]})",
       "# TYPE m gauge\nm{l=\"a\"} 1\n"},
      {R"({"ready":true,"metrics":[{"name":"m","type":"histogram","value":3}]})", "# TYPE m histogram\n"},
      {R"({"ready":true,"metrics":[{"name":"m","type":"histogram","value":{"counts":[1,2],"sum":1}}]})",
       "# TYPE m histogram\n"},
      {R"({"ready":true,"metrics":[{"name":"m","type":"histogram","value":{"bounds":[1,2],"counts":[1,2],"sum":1}}]})",
       "# TYPE m histogram\n"},
      {R"({"ready":true,"metrics":[{"name":"m","type":"histogram","value":{"bounds":[2],"counts":[1,2],"sum":9}}]})",
       "# TYPE m histogram\nm_count 3\nm_sum 9\nm_bucket{le=\"2\"} 1\nm_bucket{le=\"+Inf\"} 3\n"},
  };
  for (const auto& c : cases) {
    const auto status = Json::parse(c.status);
    assert_ok(status);
    const std::string text = without_help(encode_engine_metrics(*status));
    const bool more = text.ends_with(c.expected);
    if (!text.starts_with("# TYPE slurm_k8s_engine_up gauge\nslurm_k8s_engine_up 1\n") || !more) {
      fail_msg("%s: %s", c.status, text.c_str());
    }
  }
}

void an_engine_that_is_away(void**) {
  assert_text(without_help(encode_engine_metrics(Error(Errc::unavailable, "nobody listens"))),
              "# TYPE slurm_k8s_engine_up gauge\nslurm_k8s_engine_up 0\n");
}

void who_leads(void**) {
  assert_contains(encode_leader_metric(true), "# TYPE slurm_k8s_sidecar_leader gauge\nslurm_k8s_sidecar_leader 1\n");
  assert_contains(encode_leader_metric(false), "slurm_k8s_sidecar_leader 0\n");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(publishes_what_it_always_has),
      SLURMK8S_TEST(tells_what_became_of_configurations),
      SLURMK8S_TEST(each_metric_has_help_and_documentation),
      SLURMK8S_TEST(another_build_of_the_engine),
      SLURMK8S_TEST(an_engine_that_is_away),
      SLURMK8S_TEST(who_leads),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
