// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/bridge: what is lost, forgotten or given twice makes no second job, and ends none.
#include <string>

#include "support/bridge_world.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using kube::Verb;
using std::chrono::milliseconds;
using std::chrono::seconds;

void a_lost_answer_makes_no_second_job(void**) {
  BridgeWorld f;
  f.slurm.lost_answer = Error(Errc::timeout, "slurm: timed out");
  f.put_pod("p");
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p");
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m0");
}

void without_a_list_nothing_is_submitted_again(void**) {
  BridgeWorld f;
  f.run_for();
  f.slurm.lost_answer = Error(Errc::unavailable, "slurm: timed out");
  f.slurm.fail_loads = true;
  f.put_pod("p");
  f.run_for(milliseconds(60));
  for (int i = 0; i < 30; ++i) f.slurm.failures.push_back(Error(Errc::unavailable, "slurm: connection refused"));
  f.run_for(seconds(12));
  assert_int_equal(f.slurm.submits, 1);
  f.slurm.failures.clear();
  f.run_for(seconds(10));
  assert_text(f.calls(), "submit p");
}

void a_job_whose_id_another_one_has_ends_nothing(void**) {
  BridgeWorld f;
  f.put_pod("p");
  f.run_for();
  f.slurm.lose(1);
  f.put_pod("q");
  f.run_for();
  f.slurm.start(1, {{"c-0", 1}});
  f.run_for(seconds(60));
  assert_text(f.calls(), "submit p, submit q, submit p");
  assert_text(f.kube_node("q"), "m0");
  f.slurm.start(2, {{"c-1", 1}});
  f.run_for();
  assert_text(f.kube_node("p"), "m1");
  f.end_pod("p", "Succeeded");
  f.run_for();
  f.end_pod("q", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p, submit q, submit p, complete 2 0, complete 1 0");
}

/** Within the moment between a look at the jobs and the call. */
void a_job_that_has_the_id_by_then_is_not_ended(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.slurm.jobs.at(1).submitted += 1;
  f.end_pod("p", "Succeeded");
  f.run_for();
  assert_text(f.calls(), "submit p");
}

void a_restart_changes_nothing(void**) {
  BridgeWorld f;
  put_group(f, 2);
  f.put_pod("p1", kMember);
  f.put_pod("p2", kMember);
  f.put_pod("q");
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.submits, 2);
  f.restart();
  f.run_for(seconds(3));
  const std::uint32_t group = f.slurm.requests.at(1).tasks == 2 ? 1 : 2;
  f.slurm.start(group, {{"c-0", 1}, {"c-1", 1}});
  f.client.fail_next(Verb::create, Error(Errc::unavailable, "no"), 1);  // one of the two is bound
  f.run_for(milliseconds(100));
  f.restart();
  f.run_for(seconds(15));
  assert_text(f.kube_node("p1") + f.kube_node("p2"), "m0m1");
  assert_int_equal(f.slurm.submits, 2);
  assert_int_equal(f.slurm.ends, 0);
  f.end_pod("p1", "Succeeded");
  f.end_pod("p2", "Succeeded");
  f.restart();
  f.run_for(seconds(3));
  assert_int_equal(f.slurm.ends, 1);
  assert_text(f.slurm.jobs.at(group).state_name, "COMPLETED");
}

void an_empty_slurmctld_deletes_nothing(void**) {
  BridgeWorld f;
  f.run_pod("p", 1, "c-0");
  f.slurm.forget(1);
  f.run_for(seconds(60));
  f.restart();
  f.run_for(seconds(60));
  assert_int_equal(f.client.count(Verb::remove), 0);
  assert_int_equal(f.slurm.submits, 1);
  assert_contains(f.events("SlurmJobUnknown"), "Slurm job 1 is unknown to slurmctld; the pod stays");
  assert_contains(f.admin.answer("/metrics").body, "slurm_k8s_bridge_jobs_unknown 1");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_lost_answer_makes_no_second_job),
      SLURMK8S_TEST(without_a_list_nothing_is_submitted_again),
      SLURMK8S_TEST(a_job_whose_id_another_one_has_ends_nothing),
      SLURMK8S_TEST(a_job_that_has_the_id_by_then_is_not_ended),
      SLURMK8S_TEST(a_restart_changes_nothing),
      SLURMK8S_TEST(an_empty_slurmctld_deletes_nothing),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
