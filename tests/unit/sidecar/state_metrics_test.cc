// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/state_metrics: Slurm's state in Prometheus' text, with the names of Slurm 25.11.
#include "sidecar/state_metrics.hpp"

#include <set>

#include "base/strings.hpp"
#include "json/yaml.hpp"
#include "support/cmocka.hpp"
#include "support/prometheus_text.hpp"
#include "support/source_file.hpp"

using namespace slurmk8s;

namespace {

constexpr std::time_t kNow = 10000;

JobStateCounts job_counts(std::initializer_list<JobCount> all) {
  JobStateCounts counts;
  for (const JobCount one : all) counts.set(static_cast<std::size_t>(one));
  return counts;
}
NodeStateCounts node_counts(std::initializer_list<NodeCount> all) {
  NodeStateCounts counts;
  for (const NodeCount one : all) counts.set(static_cast<std::size_t>(one));
  return counts;
}

StateJob running(const char* user, const char* account, std::uint64_t cpus) {
  StateJob job{.user = user, .account = account, .partition = "main"};
  job.counts = job_counts({JobCount::running, JobCount::started});
  job.nodes_alloc = 1;
  job.cpus_alloc = cpus;
  job.memory_alloc = 100;
  job.gpus_alloc = 1;
  return job;
}

StateJob pending(const char* user, const char* reason, std::uint64_t nodes) {
  StateJob job{.user = user, .account = "physics", .partition = "main"};
  job.counts = job_counts({JobCount::pending});
  job.reason = reason;
  job.min_nodes = job.max_nodes = nodes;
  job.waits_since = kNow - 60;
  return job;
}

SlurmState example() {
  SlurmState state;
  state.jobs = {running("ada", "physics", 2), running("bob", "", 4), pending("ada", "Resources", 3),
                pending("ada", "JobHeldUser", 9), pending("ada", "Priority", 1)};
  state.jobs[1].counts |= job_counts({JobCount::configuring, JobCount::powerup_node});
  state.jobs[1].waits_since = kNow - 30;
  state.jobs[3].counts |= job_counts({JobCount::hold});
  state.jobs[3].waits_since = kNow - 5000;
  state.jobs[4].tasks = 10;
  state.jobs[4].waits_since = kNow + 100;  // the clock was set back
  state.nodes = {
      {.name = "c-0",
       .counts = node_counts({NodeCount::mixed, NodeCount::cloud}),
       .cpus = 4,
       .cpus_alloc = 2,
       .cpus_effective = 4,
       .memory = 1000,
       .memory_alloc = 100,
       .memory_effective = 900,
       .memory_free = 500,
       .gpus = 2,
       .gpus_alloc = 1},
      {},
      {.name = "c-1",
       .counts = node_counts({NodeCount::idle, NodeCount::cloud, NodeCount::powered_down}),
       .cpus = 4,
       .cpus_effective = 4,
       .memory = 1000,
       .memory_effective = 900},
  };
  state.partitions = {{.name = "main", .cpus = 8, .nodes = 2, .members = {0, 1, 2, 7}},
                      {.name = "void", .cpus = 0, .nodes = 0, .members = {}}};
  state.statistics = {{"bf_active", "1 while the backfill scheduler runs.", 1}};
  return state;
}

/** Dashboards and autoscalers of users rely on each name and label. */
void publishes_what_it_always_has(void**) {
  const StatePages pages = encode_state_metrics(example(), kNow, 50);
  std::string text;
  for (const std::string& path : state_pages()) text += "# PAGE " + path + "\n" + without_help(pages.at(path));
  assert_text(text, read_source("tests/unit/sidecar/state_metrics.prom").c_str());
}

void no_name_is_twice(void**) {
  std::set<std::string> seen;
  for (const auto& [path, text] : encode_state_metrics(example(), kNow, 50)) {
    for (const std::string_view line : split(text, '\n')) {
      if (line.empty() || line.starts_with("# TYPE ")) continue;
      if (line.starts_with("# HELP ")) assert_true(line.ends_with("."));
      const bool is_new = seen.insert(std::string(line.substr(0, line.rfind(' ')))).second;
      if (!is_new && !line.starts_with("# ")) fail_msg("twice: %s", std::string(line).c_str());
    }
  }
}

void users_beyond_the_limit_are_together(void**) {
  SlurmState state;
  for (int user = 0; user < 5; user++) {
    for (int job = 0; job <= user; job++) {
      state.jobs.push_back(running(format("u%d", user).c_str(), format("a%d", user).c_str(), 1));
    }
  }
  state.jobs.push_back(running("other", "other", 1));  // who is called so
  const std::string text = encode_state_metrics(state, kNow, 2).at("/metrics/jobs-users-accts");
  for (const char* line : {"slurm_user_jobs{username=\"u4\"} 5\n", "slurm_user_jobs{username=\"u3\"} 4\n",
                           "slurm_user_jobs{username=\"other\"} 7\n", "slurm_account_jobs{account=\"a4\"} 5\n",
                           "slurm_account_jobs_cpus_alloc{account=\"other\"} 7\n"}) {
    assert_contains(text, line);
  }
  if (text.find("u2") != std::string::npos) fail_msg("u2 has metrics of its own");
  assert_contains(encode_state_metrics(state, kNow, 0).at("/metrics/jobs-users-accts"),
                  "slurm_user_jobs{username=\"other\"} 16\n");
}

/** What they name is there: tests/lint/lists. */
void rules_examples_and_dashboard_can_be_read(void**) {
  const struct {
    const char* path;
    const char* member;
    const char* value;
  } cases[] = {
      {"examples/autoscaling/keda.yaml", "kind", "ScaledObject"},
      {"examples/autoscaling/hpa.yaml", "kind", "HorizontalPodAutoscaler"},
      {"examples/autoscaling/prometheus-adapter.yaml", "kind", ""},
      {"helm/slurm/files/rules.yaml", "kind", ""},
  };
  for (const auto& c : cases) {
    const auto documents = parse_yaml_documents(read_source(c.path));
    assert_ok(documents);
    assert_int_equal(documents->size(), 1);
    assert_text(std::string(documents->front()[c.member].text()), c.value);
  }
  const auto dashboard = Json::parse(read_source("helm/slurm/files/dashboard.json"));
  assert_ok(dashboard);
  std::set<std::int64_t> ids;
  (*dashboard)["panels"].each([&](const Json& panel) {
    if (!ids.insert(panel["id"].integer_or(0)).second) fail_msg("twice: %s", panel.dump().c_str());
  });
  assert_true(ids.size() > 30);
}

void nothing_is_well(void**) {
  const StatePages pages = encode_state_metrics({}, kNow, 50);
  assert_int_equal(pages.size(), state_pages().size());
  assert_contains(pages.at("/metrics/jobs"), "slurm_jobs 0\n");
  assert_contains(pages.at("/metrics/jobs"), "slurm_k8s_jobs_pending{reason=\"Resources\"} 0\n");
  assert_contains(pages.at("/metrics/nodes"), "slurm_nodes 0\n");
  assert_text(pages.at("/metrics/scheduler"), "");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(publishes_what_it_always_has),
      SLURMK8S_TEST(no_name_is_twice),
      SLURMK8S_TEST(users_beyond_the_limit_are_together),
      SLURMK8S_TEST(rules_examples_and_dashboard_can_be_read),
      SLURMK8S_TEST(nothing_is_well),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
