// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/rpc/state_fields: what jobs, nodes and partitions count as, and the scheduler's statistics. The structs are
// those of the Slurm which the tests are built with.
#include "slurm/rpc/state_fields.hpp"

#include <map>
#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** "alloc cloud" as counts. */
template <typename Counts, typename Count>
Counts counts(std::initializer_list<Count> all) {
  Counts result;
  for (const Count one : all) result.set(static_cast<std::size_t>(one));
  return result;
}
NodeStateCounts nodes(std::initializer_list<NodeCount> all) { return counts<NodeStateCounts>(all); }
JobStateCounts jobs(std::initializer_list<JobCount> all) { return counts<JobStateCounts>(all); }

void each_node_state_counts(void**) {
  using N = NodeCount;
  const struct {
    std::uint32_t state;
    NodeStateCounts expected;
  } cases[] = {
      {NODE_STATE_UNKNOWN, nodes({N::unknown})},
      {NODE_STATE_DOWN, nodes({N::down})},
      {NODE_STATE_IDLE, nodes({N::idle})},
      {NODE_STATE_ALLOCATED, nodes({N::alloc})},
      {NODE_STATE_MIXED, nodes({N::mixed})},
      {NODE_STATE_FUTURE, nodes({N::future})},
      {NODE_STATE_ERROR, nodes({N::unknown})},
      {NODE_STATE_IDLE | NODE_STATE_CLOUD | NODE_STATE_POWERED_DOWN, nodes({N::idle, N::cloud, N::powered_down})},
      {NODE_STATE_IDLE | NODE_STATE_POWERING_DOWN, nodes({N::idle, N::powering_down})},
      {NODE_STATE_IDLE | NODE_STATE_POWER_DOWN, nodes({N::idle, N::power_down})},
      {NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, nodes({N::alloc, N::powering_up})},
      {NODE_STATE_ALLOCATED | NODE_STATE_POWER_UP, nodes({N::alloc, N::power_up})},
      {NODE_STATE_MIXED | NODE_STATE_DRAIN, nodes({N::mixed, N::draining})},
      {NODE_STATE_ALLOCATED | NODE_STATE_DRAIN, nodes({N::alloc, N::draining})},
      {NODE_STATE_IDLE | NODE_STATE_DRAIN, nodes({N::idle, N::drain, N::drained})},
      {NODE_STATE_IDLE | NODE_STATE_COMPLETING, nodes({N::idle, N::completing})},
      {NODE_STATE_IDLE | NODE_STATE_DYNAMIC_NORM, nodes({N::idle, N::dyn_normal})},
      {NODE_STATE_IDLE | NODE_STATE_DYNAMIC_FUTURE, nodes({N::idle, N::dyn_future})},
      {NODE_STATE_IDLE | NODE_STATE_FAIL, nodes({N::idle, N::fail})},
      {NODE_STATE_IDLE | NODE_STATE_INVALID_REG, nodes({N::idle, N::invalid_reg})},
      {NODE_STATE_IDLE | NODE_STATE_MAINT, nodes({N::idle, N::maint})},
      {NODE_STATE_IDLE | NODE_STATE_NO_RESPOND, nodes({N::idle, N::noresp})},
      {NODE_STATE_IDLE | NODE_STATE_PLANNED, nodes({N::idle, N::planned})},
      {NODE_STATE_DOWN | NODE_STATE_REBOOT_ISSUED, nodes({N::down, N::reboot_issued})},
      {NODE_STATE_IDLE | NODE_STATE_REBOOT_REQUESTED, nodes({N::idle, N::reboot_req})},
      {NODE_STATE_IDLE | NODE_STATE_RES, nodes({N::idle, N::resv})},
  };
  for (const auto& c : cases) {
    if (decode_node_counts(c.state) != c.expected) {
      fail_msg("%#x: %s", c.state, decode_node_counts(c.state).to_string().c_str());
    }
  }
}

void each_job_state_counts(void**) {
  using J = JobCount;
  const struct {
    std::uint32_t state;
    std::uint32_t reason;
    JobStateCounts expected;
  } cases[] = {
      {JOB_PENDING, WAIT_RESOURCES, jobs({J::pending})},
      {JOB_PENDING, WAIT_HELD, jobs({J::pending, J::hold})},
      {JOB_PENDING, WAIT_HELD_USER, jobs({J::pending, J::hold})},
      {JOB_RUNNING, WAIT_NO_REASON, jobs({J::running, J::started})},
      {JOB_SUSPENDED, WAIT_NO_REASON, jobs({J::suspended, J::started})},
      {JOB_COMPLETE, WAIT_NO_REASON, jobs({J::completed, J::started, J::finished})},
      {JOB_CANCELLED, WAIT_NO_REASON, jobs({J::cancelled, J::started, J::finished})},
      {JOB_FAILED, WAIT_NO_REASON, jobs({J::failed, J::started, J::finished})},
      {JOB_TIMEOUT, WAIT_NO_REASON, jobs({J::timeout, J::started, J::finished})},
      {JOB_NODE_FAIL, WAIT_NO_REASON, jobs({J::node_failed, J::started, J::finished})},
      {JOB_PREEMPTED, WAIT_NO_REASON, jobs({J::preempted, J::started, J::finished})},
      {JOB_BOOT_FAIL, WAIT_NO_REASON, jobs({J::bootfail, J::started, J::finished})},
      {JOB_DEADLINE, WAIT_NO_REASON, jobs({J::deadline, J::started, J::finished})},
      {JOB_OOM, WAIT_NO_REASON, jobs({J::outofmemory, J::started, J::finished})},
      {JOB_RUNNING | JOB_CONFIGURING | JOB_POWER_UP_NODE, 0,
       jobs({J::running, J::started, J::configuring, J::powerup_node})},
      {JOB_COMPLETE | JOB_COMPLETING, 0, jobs({J::completed, J::started, J::finished, J::completing})},
      {JOB_PENDING | JOB_REQUEUE, 0, jobs({J::pending, J::requeued})},
      {JOB_PENDING | JOB_REQUEUE_FED, 0, jobs({J::pending, J::fed_requeued})},
      {JOB_RUNNING | JOB_RESIZING, 0, jobs({J::running, J::started, J::resizing})},
      {JOB_PENDING | JOB_REVOKED, 0, jobs({J::pending, J::revoked})},
      {JOB_RUNNING | JOB_SIGNALING, 0, jobs({J::running, J::started, J::signaling})},
      {JOB_RUNNING | JOB_STAGE_OUT, 0, jobs({J::running, J::started, J::stageout})},
  };
  for (const auto& c : cases) {
    if (decode_job_counts(c.state, c.reason) != c.expected) {
      fail_msg("%#x: %s", c.state, decode_job_counts(c.state, c.reason).to_string().c_str());
    }
  }
}

void a_node_has_its_resources(void**) {
  char name[] = "c-0";
  char gres[] = "gpu:a100:2(S:0-1),shard:8";
  char used[] = "gpu:a100:1(IDX:0),shard:0";
  node_info_t info{};
  info.name = name;
  info.node_state = NODE_STATE_MIXED;
  info.cpus = 8;
  info.cpus_efctv = 6;
  info.real_memory = 1000;
  info.mem_spec_limit = 100;
  info.free_mem = 300;
  info.gres = gres;
  info.gres_used = used;
  const StateNode node = decode_state_node(info);
  assert_text(node.name, "c-0");
  assert_int_equal(node.cpus, 8);
  assert_int_equal(node.cpus_effective, 6);
  assert_int_equal(node.memory, 1000);
  assert_int_equal(node.memory_effective, 900);
  assert_int_equal(node.memory_free, 300);
  assert_int_equal(node.gpus, 2);
  assert_int_equal(node.gpus_alloc, 1);
  info.free_mem = NO_VAL64;
  info.mem_spec_limit = 2000;
  assert_int_equal(decode_state_node(info).memory_free, 0);
  assert_int_equal(decode_state_node(info).memory_effective, 0);
}

void a_pending_job_says_what_it_wants(void**) {
  char partition[] = "main,other";
  char tasks[] = "1-10%2";
  job_info_t info{};
  info.partition = partition;
  info.array_task_str = tasks;
  info.job_state = JOB_PENDING;
  info.state_reason = WAIT_PART_NODE_LIMIT;
  info.num_nodes = 4;
  info.max_nodes = 2;
  info.num_cpus = 8;
  info.eligible_time = 1000;
  const StateJob job = decode_state_job(info);
  assert_text(job.user, "");
  assert_text(job.account, "");
  assert_text(job.partition, "main");
  assert_text(job.reason, "PartitionLimit");
  assert_true(job.over_node_limit);
  assert_int_equal(job.tasks, 10);
  assert_int_equal(job.min_nodes, 4);
  assert_int_equal(job.max_nodes, 4);
  assert_int_equal(job.cpus_alloc, 0);
  assert_int_equal(job.waits_since, 1000);
}

void a_running_job_says_what_it_has(void**) {
  char user[] = "ada";
  char account[] = "physics";
  char tasks[] = "1-10";
  char tres[] = "cpu=8,mem=1.5G,node=2,billing=8";
  char gres[] = "gpu:4";
  job_info_t info{};
  info.user_name = user;
  info.account = account;
  info.array_task_str = tasks;
  info.job_state = JOB_RUNNING | JOB_CONFIGURING;
  info.num_nodes = 2;
  info.num_cpus = 8;
  info.tres_alloc_str = tres;
  info.gres_total = gres;
  info.start_time = 2000;
  const StateJob job = decode_state_job(info);
  assert_text(job.user, "ada");
  assert_text(job.account, "physics");
  assert_int_equal(job.tasks, 1);
  assert_int_equal(job.nodes_alloc, 2);
  assert_int_equal(job.cpus_alloc, 8);
  assert_int_equal(job.memory_alloc, 1536);
  assert_int_equal(job.gpus_alloc, 4);
  assert_int_equal(job.waits_since, 2000);
  assert_int_equal(job.min_nodes, 0);
}

void tasks_that_ended_before_they_started(void**) {
  char tasks[] = "3-9%2";
  job_info_t info{};
  info.array_task_str = tasks;
  info.job_state = JOB_CANCELLED;
  const StateJob job = decode_state_job(info);
  assert_true(job.counts.test(static_cast<std::size_t>(JobCount::cancelled)));
  assert_int_equal(job.tasks, 7);
  assert_int_equal(job.min_nodes, 0);
}

void memory_has_units(void**) {
  const struct {
    const char* tres;
    std::uint64_t mib;
  } cases[] = {{"cpu=1,mem=200M", 200},
               {"mem=2G", 2048},
               {"mem=1T,cpu=1", 1024 * 1024},
               {"mem=300", 300},
               {"mem=2048K", 2},
               {"mem=", 0},
               {"cpu=1", 0}};
  for (const auto& c : cases) {
    std::string tres = c.tres;
    job_info_t info{};
    info.job_state = JOB_RUNNING;
    info.tres_alloc_str = tres.data();
    if (decode_state_job(info).memory_alloc != c.mib) fail_msg("%s", c.tres);
  }
}

void a_partition_has_its_nodes(void**) {
  char name[] = "main";
  std::int32_t places[] = {0, 1, 4, 9, -1};
  partition_info_t info{};
  info.name = name;
  info.total_cpus = 64;
  info.total_nodes = 8;
  const StatePartition without = decode_state_partition(info, 6);
  assert_int_equal(without.members.size(), 0);
  info.node_inx = places;
  const StatePartition partition = decode_state_partition(info, 6);
  assert_text(partition.name, "main");
  assert_int_equal(partition.cpus, 64);
  assert_int_equal(partition.nodes, 8);
  assert_true(partition.members == (std::vector<std::uint32_t>{0, 1, 4, 5}));
}

void tasks_are_counted(void**) {
  const struct {
    const char* array;
    std::uint64_t count;
  } cases[] = {{"", 1}, {"7", 1}, {"0-9", 10}, {"1-10:3", 4}, {"1,3,5-6%2", 4}, {"1,3,...", 2}, {"9-1", 1}};
  for (const auto& c : cases) {
    if (count_tasks(c.array) != c.count) fail_msg("%s: %d", c.array, static_cast<int>(count_tasks(c.array)));
  }
}

void reasons_are_few_words(void**) {
  const struct {
    std::uint32_t reason;
    const char* word;
  } cases[] = {{WAIT_NO_REASON, "None"},
               {WAIT_PRIORITY, "Priority"},
               {WAIT_RESOURCES, "Resources"},
               {WAIT_DEPENDENCY, "Dependency"},
               {WAIT_PART_TIME_LIMIT, "PartitionLimit"},
               {WAIT_PART_CONFIG, "PartitionLimit"},
               {WAIT_HELD, "JobHeldAdmin"},
               {WAIT_HELD_USER, "JobHeldUser"},
               {WAIT_TIME, "BeginTime"},
               {WAIT_NODE_NOT_AVAIL, "ReqNodeNotAvail"},
               {WAIT_ASSOC_JOB_LIMIT, "Limit"},
               {WAIT_QOS_MAX_CPU_PER_USER, "Limit"},
               {WAIT_ASSOC_GRP_GRES, "Limit"},
               {WAIT_QOS_MIN_BILLING, "Limit"},
               {WAIT_ARRAY_TASK_LIMIT, "JobArrayTaskLimit"},
               {WAIT_MAX_REQUEUE, "Other"},
               {100000, "Other"}};
  for (const auto& c : cases) assert_text(decode_wait_reason(c.reason), c.word);
}

void statistics_have_slurms_names(void**) {
  stats_info_response_msg_t answer{};
  answer.schedule_cycle_sum = 700;
  answer.schedule_cycle_counter = 3;
  answer.bf_active = 1;
  answer.dbd_agent_queue_size = 5;
  std::map<std::string, double> values;
  for (const StateStatistic& one : decode_statistics(answer)) {
    if (!values.emplace(one.name, one.value).second) fail_msg("twice: %s", one.name);
    assert_true(std::string(one.help).ends_with("."));
  }
  assert_true(values.at("schedule_cycle_tot") == 700);
  assert_true(values.at("schedule_cycle_cnt") == 3);
  assert_true(values.at("sched_mean_cycle") == 233);
  assert_true(values.at("bf_mean_cycle") == 0);
  assert_true(values.at("bf_active") == 1);
  assert_true(values.at("slurmdbd_queue_size") == 5);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(each_node_state_counts),
      SLURMK8S_TEST(each_job_state_counts),
      SLURMK8S_TEST(a_node_has_its_resources),
      SLURMK8S_TEST(a_pending_job_says_what_it_wants),
      SLURMK8S_TEST(a_running_job_says_what_it_has),
      SLURMK8S_TEST(tasks_that_ended_before_they_started),
      SLURMK8S_TEST(memory_has_units),
      SLURMK8S_TEST(a_partition_has_its_nodes),
      SLURMK8S_TEST(tasks_are_counted),
      SLURMK8S_TEST(reasons_are_few_words),
      SLURMK8S_TEST(statistics_have_slurms_names),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
