// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/rpc/job_fields: what a job is and waits for, from libslurm's struct, which is that of the Slurm that the tests
// are built with.
#include "slurm/rpc/job_fields.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

job_info_t in_state(std::uint32_t state, std::uint32_t reason = WAIT_NO_REASON, std::uint32_t priority = 1) {
  job_info_t info{};
  info.job_state = state;
  info.state_reason = static_cast<decltype(info.state_reason)>(reason);
  info.priority = priority;
  return info;
}

void what_a_state_means(void**) {
  const struct {
    std::uint32_t state;
    bool runs, holds_nodes, suspended;
  } cases[] = {
      {JOB_PENDING, false, false, false},
      {JOB_PENDING | JOB_COMPLETING, false, true, false},  // requeued, the end of its former run isn't done
      {JOB_RUNNING, true, true, false},
      {JOB_RUNNING | JOB_CONFIGURING, true, true, false},
      {JOB_RUNNING | JOB_COMPLETING, false, true, false},
      {JOB_SUSPENDED, true, true, true},
      {JOB_COMPLETE, false, false, false},
      {JOB_COMPLETE | JOB_COMPLETING, false, true, false},
      {JOB_CANCELLED, false, false, false},
      {JOB_NODE_FAIL, false, false, false},
  };
  for (const auto& c : cases) {
    const job_info_t info = in_state(c.state);
    assert_int_equal(runs(info), c.runs);
    assert_int_equal(holds_nodes(info), c.holds_nodes);
    assert_int_equal(is_suspended(info), c.suspended);
    assert_int_equal(decode_job(info).suspended, c.suspended);
  }
}

void only_nodes_or_its_turn_are_waited_for(void**) {
  const struct {
    std::uint32_t state, reason, priority;
    bool waits;
  } cases[] = {
      {JOB_PENDING, WAIT_NO_REASON, 1, true},
      {JOB_PENDING, WAIT_PRIORITY, 1, true},
      {JOB_PENDING, WAIT_RESOURCES, 1, true},
      {JOB_PENDING, WAIT_NODE_NOT_AVAIL, 1, true},
      {JOB_PENDING, WAIT_DEPENDENCY, 1, false},
      {JOB_PENDING, WAIT_HELD_USER, 1, false},
      {JOB_PENDING, WAIT_ASSOC_JOB_LIMIT, 1, false},
      {JOB_PENDING, WAIT_TIME, 1, false},
      {JOB_PENDING, WAIT_RESOURCES, 0, false},  // held
      {JOB_PENDING | JOB_COMPLETING, WAIT_RESOURCES, 1, false},
      {JOB_RUNNING, WAIT_NO_REASON, 1, false},
  };
  for (const auto& c : cases) {
    const job_info_t info = in_state(c.state, c.reason, c.priority);
    assert_int_equal(waits_for_nodes(info), c.waits);
    assert_int_equal(decode_job(info).waits, c.waits);
  }
}

void each_field(void**) {
  std::string name = "train", user = "ada", account = "physics", partition = "gpu,all", qos = "high", resv = "exam",
              features = "a100", tres = "cpu=8,mem=4000M,node=2,billing=8,gres/gpu=2,gres/gpu:a100=2", comment = "note";
  job_info_t info = in_state(JOB_PENDING | JOB_COMPLETING, WAIT_RESOURCES, 0);
  info.job_id = 12;
  info.name = name.data();
  info.user_name = user.data();
  info.account = account.data();
  info.partition = partition.data();
  info.qos = qos.data();
  info.resv_name = resv.data();
  info.features = features.data();
  info.tres_req_str = tres.data();
  info.admin_comment = comment.data();
  info.num_cpus = 8;
  info.num_nodes = 2;
  info.bitflags = CRON_JOB;
  info.restart_cnt = 3;
  info.submit_time = 1'700'000'000;
  info.eligible_time = 1'700'000'120;
  const SlurmJob job = decode_job(info);
  assert_int_equal(job.id, 12);
  assert_text(job.name, "train");
  assert_text(job.user, "ada");
  assert_text(job.account, "physics");
  assert_text(job.partitions, "gpu,all");
  assert_text(job.qos, "high");
  assert_text(job.reservation, "exam");
  assert_text(job.features, "a100");
  assert_text(job.memory, "4000M");
  assert_text(job.gres, "gpu=2,gpu:a100=2");
  assert_text(job.admin_comment, "note");
  assert_int_equal(job.cpus, 8);
  assert_int_equal(job.nodes, 2);
  assert_int_equal(job.restarts, 3);
  assert_int_equal(job.submitted, 1'700'000'000);
  assert_int_equal(job.begin, 1'700'000'120);
  assert_true(job.pending && job.completing && job.held && job.cron);
}

void a_user_whom_slurmctld_does_not_know(void**) {
  std::string nobody;
  job_info_t info{};
  info.user_id = 1000;
  assert_text(decode_job(info).user, "1000");
  info.user_name = nobody.data();
  assert_text(decode_job(info).user, "1000");
}

void nodes_only_of_a_suspended_job(void**) {
  std::string nodes = "c-[0-1]";
  job_info_t info = in_state(JOB_RUNNING);
  info.nodes = nodes.data();
  assert_text(decode_job(info).suspended_on, "");
  info.job_state = JOB_SUSPENDED;
  assert_text(decode_job(info).suspended_on, "c-[0-1]");
  assert_false(decode_job(info).ended);
  info.job_state = JOB_COMPLETE | JOB_COMPLETING;
  assert_true(decode_job(info).ended);
}

void a_run(void**) {
  std::string nodes = "c-[0-1]";
  job_info_t info{};
  info.job_id = 12;
  info.het_job_id = 11;
  info.restart_cnt = 1;
  info.submit_time = 100;
  info.start_time = 200;
  info.nodes = nodes.data();
  const SlurmRun run = decode_run(info);
  assert_int_equal(run.id, 12);
  assert_int_equal(run.het_id, 11);
  assert_int_equal(run.restarts, 1);
  assert_int_equal(run.submitted, 100);
  assert_int_equal(run.started, 200);
  assert_text(run.nodes, "c-[0-1]");
}

void what_a_job_needs(void**) {
  std::string partition = "a,b", nodes = "n-1", required = "n-[1-2]";
  job_info_t info = in_state(JOB_RUNNING);
  info.job_id = 12;
  info.partition = partition.data();
  info.nodes = nodes.data();
  info.req_nodes = required.data();
  const SlurmJobNeeds needs = decode_job_needs(info);
  assert_int_equal(needs.id, 12);
  assert_text(needs.partitions, "a,b");
  assert_text(needs.nodes, "n-1");
  assert_text(needs.required_nodes, "n-[1-2]");
  const struct {
    std::uint32_t state;
    bool is_unended;
  } rows[] = {
      {JOB_PENDING, true},   {JOB_RUNNING | JOB_CONFIGURING, true},  {JOB_SUSPENDED, true},
      {JOB_COMPLETE, false}, {JOB_COMPLETE | JOB_COMPLETING, false}, {JOB_CANCELLED, false},
      {JOB_OOM, false},      {JOB_PENDING | JOB_COMPLETING, true},
  };
  for (const auto& row : rows) assert_true(is_unended(in_state(row.state)) == row.is_unended);
}

void where_a_batch_script_runs(void**) {
  const struct {
    std::uint32_t state;
    std::uint16_t is_batch;
    const char* host;
  } rows[] = {
      {JOB_RUNNING, 1, "c-0"},
      {JOB_RUNNING, 0, ""},
      {JOB_RUNNING | JOB_CONFIGURING, 1, ""},
      {JOB_SUSPENDED, 1, ""},
  };
  for (const auto& row : rows) {
    std::string host = "c-0";
    job_info_t info = in_state(row.state);
    info.batch_flag = row.is_batch;
    info.batch_host = host.data();
    assert_text(decode_run(info).batch_host, row.host);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(what_a_state_means),
      SLURMK8S_TEST(only_nodes_or_its_turn_are_waited_for),
      SLURMK8S_TEST(each_field),
      SLURMK8S_TEST(a_user_whom_slurmctld_does_not_know),
      SLURMK8S_TEST(nodes_only_of_a_suspended_job),
      SLURMK8S_TEST(a_run),
      SLURMK8S_TEST(what_a_job_needs),
      SLURMK8S_TEST(where_a_batch_script_runs),
  };
  return cmocka_run_group_tests_name("slurm_rpc_job_fields", tests, nullptr, nullptr);
}
