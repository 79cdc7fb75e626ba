// SPDX-License-Identifier: GPL-2.0-or-later
// The engine's metrics: from what the engine counts to Prometheus' text.
#include "sidecar/metrics.hpp"

#include "engine/engine_metrics.hpp"
#include "support/cmocka.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

void tells_what_the_engine_counts(void**) {
  EngineMetrics metrics;
  metrics.resumes = 12;
  metrics.failures[static_cast<std::size_t>(Cause::unschedulable)] = 2;
  metrics.accepted.observe(3ms);
  metrics.accepted.observe(5ms);  // a bound is part of its bucket
  metrics.accepted.observe(400s);
  metrics.api[static_cast<std::size_t>(ApiVerb::remove)].observe(20ms);
  EngineGauges gauges;
  gauges.ready = true;
  gauges.pods_running = 7;
  LockTimes locks;
  locks[static_cast<std::size_t>(LockedCall::wake)].observe(30us);
  const std::string text = encode_engine_metrics(encode_status(metrics, gauges, locks));
  for (const char* line : {
           "slurm_k8s_engine_up 1\n",
           "slurm_k8s_engine_pods{state=\"running\"} 7\n",
           "slurm_k8s_engine_resumes_total 12\n",
           "slurm_k8s_engine_node_failures_total{cause=\"unschedulable\"} 2\n",
           "slurm_k8s_engine_node_failures_total{cause=\"refused\"} 0\n",
           "# TYPE slurm_k8s_engine_resume_seconds histogram\n",
           "slurm_k8s_engine_resume_seconds_bucket{step=\"accepted\",le=\"0.005\"} 2\n",
           "slurm_k8s_engine_resume_seconds_bucket{step=\"accepted\",le=\"300\"} 2\n",
           "slurm_k8s_engine_resume_seconds_bucket{step=\"accepted\",le=\"+Inf\"} 3\n",
           "slurm_k8s_engine_resume_seconds_count{step=\"accepted\"} 3\n",
           "slurm_k8s_engine_resume_seconds_count{step=\"running\"} 0\n",
           "slurm_k8s_engine_api_request_seconds_bucket{verb=\"delete\",le=\"0.025\"} 1\n",
           "slurm_k8s_engine_locked_seconds_bucket{call=\"wake\",le=\"2.5e-05\"} 0\n",
           "slurm_k8s_engine_locked_seconds_bucket{call=\"wake\",le=\"5e-05\"} 1\n",
           "slurm_k8s_engine_locked_seconds_count{call=\"look\"} 0\n",
       }) {
    assert_contains(text, line);
  }
}

void an_engine_that_is_away(void**) {
  assert_contains(encode_engine_metrics(Error(Errc::unavailable, "nobody listens")), "slurm_k8s_engine_up 0\n");
}

void who_leads(void**) {
  assert_contains(encode_leader_metric(true), "# TYPE slurm_k8s_sidecar_leader gauge\nslurm_k8s_sidecar_leader 1\n");
  assert_contains(encode_leader_metric(false), "slurm_k8s_sidecar_leader 0\n");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(tells_what_the_engine_counts),
      SLURMK8S_TEST(an_engine_that_is_away),
      SLURMK8S_TEST(who_leads),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
