// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/rpc/allocation_fields: a request in libslurm's struct, and a job out of it; the structs are those of the Slurm
// that the tests are built with.
#include "slurm/rpc/allocation_fields.hpp"

#include <string>

#include "base/allocation_user.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

using State = Allocation::State;

AllocationRequest of_user() {
  AllocationRequest request;
  request.user = 1000;
  request.group = 100;
  return request;
}

// ---- requests -------------------------------------------------------------------------------------------------------

void the_least_that_can_be_asked_for(void**) {
  const AllocationRequest request = of_user();
  AllocationMessage message(request);
  const job_desc_msg_t& job = message.get();
  job_desc_msg_t untouched;
  slurm_init_job_desc_msg(&untouched);
  assert_int_equal(job.user_id, 1000);
  assert_int_equal(job.group_id, 100);
  assert_int_equal(job.num_tasks, 1);
  assert_int_equal(job.cpus_per_task, 1);
  assert_int_equal(job.min_cpus, 1);
  assert_int_equal(job.min_nodes, 1);
  assert_int_equal(job.max_nodes, 1);
  assert_text(job.work_dir, "/");
  for (const char* value :
       {job.name, job.comment, job.extra, job.account, job.partition, job.qos, job.reservation, job.features,
        job.licenses, job.wckey, job.tres_per_task, job.script, job.req_nodes, job.exc_nodes}) {
    assert_null(value);
  }
  assert_int_equal(job.ntasks_per_node, untouched.ntasks_per_node);
  assert_true(job.pn_min_memory == untouched.pn_min_memory);
  assert_int_equal(job.time_limit, untouched.time_limit);
  assert_int_equal(job.priority, untouched.priority);
  assert_int_equal(job.nice, untouched.nice);
  assert_int_equal(job.shared, untouched.shared);
  // Nobody listens, and the job waits for its turn.
  assert_int_equal(job.other_port, 0);
  assert_int_equal(job.alloc_resp_port, 0);
  assert_int_equal(job.immediate, 0);
}

void all_that_can_be_asked_for(void**) {
  AllocationRequest request = of_user();
  request.name = "train";
  request.comment = "team-a/train";
  request.extra = R"({"k8s":{}})";
  request.account = "physics";
  request.partition = "gpu,all";
  request.qos = "high";
  request.reservation = "exam";
  request.features = "a100";
  request.licenses = "ansys:2";
  request.wckey = "w";
  request.gres = "gres/gpu:a100:2,nic:1";
  request.tasks = 8;
  request.min_nodes = 2;
  request.max_nodes = 4;
  request.tasks_per_node = 4;
  request.cpus_per_task = 3;
  request.memory_per_cpu_mib = 2048;
  request.minutes = 90;
  request.priority = 77;
  request.nice = -5;
  request.exclusive = true;
  AllocationMessage message(request);
  const job_desc_msg_t& job = message.get();
  assert_text(job.name, "train");
  assert_text(job.comment, "team-a/train");
  if (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)) assert_text(job.extra, R"({"k8s":{}})");
  assert_text(job.account, "physics");
  assert_text(job.partition, "gpu,all");
  assert_text(job.qos, "high");
  assert_text(job.reservation, "exam");
  assert_text(job.features, "a100");
  assert_text(job.licenses, "ansys:2");
  assert_text(job.wckey, "w");
  const std::string prefix = compat::kGresPrefix;
  assert_text(job.tres_per_task, prefix + "gpu:a100:2," + prefix + "nic:1");
  assert_int_equal(job.num_tasks, 8);
  assert_int_equal(job.min_nodes, 2);
  assert_int_equal(job.max_nodes, 4);
  assert_int_equal(job.ntasks_per_node, 4);
  assert_int_equal(job.cpus_per_task, 3);
  assert_int_equal(job.min_cpus, 24);
  assert_true(job.pn_min_memory == (2048 | MEM_PER_CPU));
  assert_int_equal(job.time_limit, 90);
  assert_int_equal(job.priority, 77);
  assert_int_equal(job.nice, NICE_OFFSET - 5);
  assert_int_equal(job.shared, JOB_SHARED_NONE);
}

void other_nodes_are_excluded(void**) {
  AllocationRequest request = of_user();
  request.only_nodes = {"c-1", "gone"};
  assert_false(requires_node(request));
  const std::string excluded = *excluded_nodes(request, {"c-0", "c-1", "", "c-2", "d"});
  assert_text(excluded, "c-[0,2],d");
  AllocationMessage message(request, excluded);
  assert_text(message.get().exc_nodes, "c-[0,2],d");
  assert_null(message.get().req_nodes);
  std::vector<std::string> names;  // without numbers at their ends: a hostlist has each
  for (int i = 0; i < 2000; ++i) names.push_back("ip-10-0-0-" + std::to_string(i) + "-of-some-internal-zone");
  assert_error(excluded_nodes(request, names), Errc::invalid, "may not be more than 65536");
}

void nodes_are_excluded_by_name(void**) {
  AllocationRequest request = of_user();
  request.not_nodes = {"c-1", "gone"};
  assert_text(*excluded_nodes(request, {"c-0", "c-1", "", "c-2"}), "c-1");
  request.only_nodes = {"c-0", "c-1"};
  assert_text(*excluded_nodes(request, {"c-0", "c-1", "", "c-2"}), "c-[1-2]");
  request = of_user();
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("ip-10-0-0-" + std::to_string(i) + "-of-some-internal-zone");
  request.not_nodes = names;
  assert_error(excluded_nodes(request, names), Errc::invalid, "may not be more than 8192");
}

void one_node_is_required(void**) {
  AllocationRequest request = of_user();
  request.only_nodes = {"c-1"};
  request.max_nodes = 4;
  assert_true(requires_node(request));
  AllocationMessage message(request);
  assert_text(message.get().req_nodes, "c-1");
  assert_int_equal(message.get().max_nodes, 1);
  assert_null(message.get().exc_nodes);
  request.min_nodes = 2;  // it never starts, and no other node is given to it
  assert_false(requires_node(request));
}

void a_held_job_has_no_priority(void**) {
  AllocationRequest request = of_user();
  request.held = true;
  request.priority = 77;
  AllocationMessage message(request);
  assert_int_equal(message.get().priority, 0);
}

void its_user_is_in_the_environment(void**) {
  AllocationRequest request = of_user();
  request.user_name = "ada";
  assert_ok(check_request(request));
  AllocationMessage message(request);
  const auto user = find_allocation_user(message.get().environment, message.get().env_size);
  assert_true(user == AllocationUser({1000, 100, "ada"}));
  request.user_name = "a:b";
  assert_error(check_request(request), Errc::invalid, "its user's name is invalid");
}

void requests_that_are_refused(void**) {
  assert_ok(check_request(of_user()));
  const struct {
    const char* what;
    void (*change)(AllocationRequest&);
  } cases[] = {
      {"uid", [](AllocationRequest& r) { r.user = 0; }},
      {"uid", [](AllocationRequest& r) { r.user = 0xfffffffe; }},
      {"gid", [](AllocationRequest& r) { r.group = 0; }},
      {"task", [](AllocationRequest& r) { r.tasks = 0; }},
      {"CPU", [](AllocationRequest& r) { r.cpus_per_task = 0; }},
      {"CPUs for each task", [](AllocationRequest& r) { r.cpus_per_task = 65534; }},
      {"tasks on each node", [](AllocationRequest& r) { r.tasks_per_node = 65535; }},
      {"too many CPUs", [](AllocationRequest& r) { r.tasks = 1u << 24, r.cpus_per_task = 1u << 10; }},
      {"nodes", [](AllocationRequest& r) { r.min_nodes = 0; }},
      {"nodes", [](AllocationRequest& r) { r.min_nodes = 3, r.max_nodes = 2; }},
      {"memory", [](AllocationRequest& r) { r.memory_per_cpu_mib = MEM_PER_CPU; }},
  };
  for (const auto& c : cases) {
    AllocationRequest request = of_user();
    c.change(request);
    assert_error(check_request(request), Errc::invalid, c.what);
  }
}

// ---- jobs -----------------------------------------------------------------------------------------------------------

void what_a_state_means(void**) {
  const struct {
    std::uint32_t state;
    State expected;
    bool completing;
    const char* name;
  } cases[] = {
      {JOB_PENDING, State::pending, false, "PENDING"},
      {JOB_RUNNING, State::running, false, "RUNNING"},
      {JOB_RUNNING | JOB_CONFIGURING, State::configuring, false, "RUNNING"},
      {JOB_RUNNING | JOB_CONFIGURING | JOB_POWER_UP_NODE, State::configuring, false, "RUNNING"},
      {JOB_SUSPENDED, State::suspended, false, "SUSPENDED"},
      {JOB_COMPLETE | JOB_COMPLETING, State::ended, true, "COMPLETED"},
      {JOB_COMPLETE, State::ended, false, "COMPLETED"},
      {JOB_CANCELLED | JOB_COMPLETING, State::ended, true, "CANCELLED"},
      {JOB_FAILED, State::ended, false, "FAILED"},
      {JOB_TIMEOUT | JOB_COMPLETING, State::ended, true, "TIMEOUT"},
      {JOB_NODE_FAIL, State::ended, false, "NODE_FAIL"},
      {JOB_PREEMPTED, State::ended, false, "PREEMPTED"},
      {JOB_BOOT_FAIL, State::ended, false, "BOOT_FAIL"},
      {JOB_DEADLINE, State::ended, false, "DEADLINE"},
      {JOB_OOM, State::ended, false, "OUT_OF_MEMORY"},
  };
  for (const auto& c : cases) {
    job_info_t info{};
    info.job_state = c.state;
    const Allocation job = decode_allocation(info, {});
    assert_int_equal(job.state, c.expected);
    assert_int_equal(job.completing, c.completing);
    assert_text(job.state_name, c.name);
  }
}

void slurms_words_for_a_reason(void**) {
  const struct {
    std::uint32_t reason;
    const char* word;
  } cases[] = {
      {WAIT_NO_REASON, "None"},        {WAIT_PRIORITY, "Priority"},
      {WAIT_RESOURCES, "Resources"},   {WAIT_DEPENDENCY, "Dependency"},
      {WAIT_HELD_USER, "JobHeldUser"}, {WAIT_QOS_MAX_NODE_PER_USER, "QOSMaxNodePerUserLimit"},
      {FAIL_TIMEOUT, "TimeLimit"},
  };
  for (const auto& c : cases) {
    job_info_t info{};
    info.state_reason = static_cast<decltype(info.state_reason)>(c.reason);
    assert_text(decode_allocation(info, {}).reason, c.word);
  }
}

void each_field(void**) {
  std::string name = "train", comment = "team-a/train", user = "ada", desc = "more about it";
  job_info_t info{};
  info.job_id = 12;
  info.submit_time = 100;
  info.start_time = 200;
  info.preempt_time = 300;
  info.job_state = JOB_PENDING;
  info.name = name.data();
  info.comment = comment.data();
  info.user_name = user.data();
  info.user_id = 1000;
  info.state_desc = desc.data();
  info.priority = 77;
  info.cpus_per_task = 2;
  const Allocation job = decode_allocation(info, {});
  assert_int_equal(job.cpus_per_task, 2);
  info.cpus_per_task = NO_VAL16;
  assert_int_equal(decode_allocation(info, {}).cpus_per_task, 0);
  assert_int_equal(job.id, 12);
  assert_int_equal(job.submitted, 100);
  assert_int_equal(job.started, 200);
  assert_int_equal(job.preempted, 300);
  assert_text(job.name, "train");
  assert_text(job.comment, "team-a/train");
  assert_text(job.user, "ada");
  assert_text(job.state_desc, "more about it");
  assert_int_equal(job.priority, 77);
  assert_true(job.nodes.empty());
  info.user_name = nullptr;
  assert_text(decode_allocation(info, {}).user, "1000");
}

void only_comments_that_begin_so(void**) {
  std::string comment = "team-a/train";
  job_info_t info{};
  assert_false(has_comment(info, "team-a/"));
  assert_true(has_comment(info, ""));
  info.comment = comment.data();
  assert_true(has_comment(info, "team-a/"));
  assert_false(has_comment(info, "team-b/"));
  assert_false(has_comment(info, "a/"));
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

/** A job with nodes, and numbers of CPUs in the order of slurmctld's table. */
struct WithNodes {
  WithNodes(const char* hostlist, std::vector<std::int32_t> indices, std::vector<std::uint16_t> values,
            std::vector<std::uint32_t> repetitions)
      : nodes(hostlist), inx(std::move(indices)), cpus(std::move(values)), reps(std::move(repetitions)) {
    inx.push_back(-1);
    resources.cpu_array_cnt = static_cast<std::uint32_t>(cpus.size());
    resources.cpu_array_value = cpus.data();
    resources.cpu_array_reps = reps.data();
    info.job_state = JOB_RUNNING;
    info.nodes = nodes.data();
    info.node_inx = inx.data();
    info.job_resrcs = &resources;
  }
  WithNodes(const WithNodes&) = delete;
  WithNodes& operator=(const WithNodes&) = delete;
  std::string decoded(const std::vector<std::string>& names = {}) const {
    std::string shown;
    for (const AllocatedNode& node : decode_allocation(info, names).nodes) {
      shown += (shown.empty() ? "" : " ") + node.name + "=" + std::to_string(node.cpus);
    }
    return shown;
  }

  std::string nodes;
  std::vector<std::int32_t> inx;
  std::vector<std::uint16_t> cpus;
  std::vector<std::uint32_t> reps;
  job_resources resources{};
  job_info_t info{};
};

void nodes_of_one_size_need_no_names(void**) {
  const WithNodes job("c-[0-2]", {4, 6}, {8}, {3});
  assert_false(has_unequal_nodes(job.info));
  assert_text(job.decoded(), "c-0=8 c-1=8 c-2=8");
  const WithNodes two_groups("c-[0-2]", {4, 6}, {8, 8}, {1, 2});
  assert_false(has_unequal_nodes(two_groups.info));
  assert_text(two_groups.decoded(), "c-0=8 c-1=8 c-2=8");
}

void memory_of_a_node(void**) {
  const struct {
    std::uint64_t minimum;
    std::uint64_t expected;
  } cases[] = {{0, 0}, {NO_VAL64, 0}, {100, 100}, {100 | MEM_PER_CPU, 800}, {0 | MEM_PER_CPU, 0}};
  for (const auto& one : cases) {
    WithNodes job("c-0", {0, 0}, {8}, {1});
    job.info.pn_min_memory = one.minimum;
    assert_int_equal(decode_allocation(job.info, {}).nodes.at(0).memory_mib, one.expected);
  }
}

// An exclusive job has all CPUs and GPUs of its nodes.
void gpus_belong_to_the_nodes_of_the_table(void**) {
  WithNodes job("a-[0-1]", {3, 4}, {8}, {2});
  std::string two = "gpu:a100:2(IDX:0-1),nic:1(CNT:1)";
  std::string one = "gpu:a100:1(IDX:3)";
  char* gres[] = {two.data(), one.data()};
  job.info.gres_detail_cnt = 2;
  job.info.gres_detail_str = gres;
  assert_true(has_unequal_nodes(job.info));
  const std::vector<AllocatedNode> nodes = decode_allocation(job.info, {"", "", "", "a-1", "a-0"}).nodes;
  assert_true(nodes == (std::vector<AllocatedNode>{{"a-0", 8, 1}, {"a-1", 8, 2}}));
  // An unknown node counts as the smallest.
  assert_true(decode_allocation(job.info, {}).nodes == (std::vector<AllocatedNode>{{"a-0", 8, 1}, {"a-1", 8, 1}}));
  gres[1] = nullptr;
  assert_int_equal(decode_allocation(job.info, {"", "", "", "a-1", "a-0"}).nodes[0].gpus, 0);
  gres[1] = two.data();
  assert_false(has_unequal_nodes(job.info));
}

// big-0 was made first, which its name doesn't tell.
void cpus_belong_to_the_nodes_of_the_table(void**) {
  const std::vector<std::string> table = {"big-0", "", "a-0", "a-1", "a-2", "big-1"};
  const WithNodes job("a-[0-1],big-[0-1]", {0, 0, 2, 3, 5, 5}, {64, 2, 32}, {1, 2, 1});
  assert_true(has_unequal_nodes(job.info));
  assert_text(job.decoded(table), "a-0=2 a-1=2 big-0=64 big-1=32");
  // Without names, as when the table has changed meanwhile: nobody is given what isn't there.
  assert_text(job.decoded(), "a-0=2 a-1=2 big-0=2 big-1=2");
  assert_text(job.decoded({"big-0"}), "a-0=2 a-1=2 big-0=64 big-1=2");
}

void jobs_without_details(void**) {
  WithNodes job("c-[0-1]", {0, 1}, {8}, {2});
  job.info.job_resrcs = nullptr;
  assert_text(job.decoded(), "c-0=0 c-1=0");
  assert_false(has_unequal_nodes(job.info));
  job.info.node_inx = nullptr;
  assert_text(job.decoded({"c-0", "c-1"}), "c-0=0 c-1=0");
  job.info.nodes = nullptr;
  assert_text(job.decoded(), "");
}

void positions_are_by_partition_and_priority(void**) {
  const struct {
    std::uint32_t id, state, priority;
    const char* partition;
    std::uint32_t position;  // 0: none
  } rows[] = {
      {1, JOB_PENDING, 10, "main", 3}, {2, JOB_PENDING, 20, "main", 1},    {3, JOB_PENDING, 10, "other", 1},
      {4, JOB_RUNNING, 99, "main", 0}, {5, JOB_PENDING, 0, "main", 0},     {6, JOB_PENDING, 20, "main", 2},
      {7, JOB_PENDING, 9, "other", 2}, {8, JOB_CANCELLED, 50, "other", 0}, {9, JOB_PENDING, 1, nullptr, 1},
  };
  std::vector<job_info_t> jobs;
  std::vector<std::string> partitions;
  for (const auto& row : rows) partitions.push_back(row.partition ? row.partition : "");
  for (const auto& row : rows) {
    job_info_t job{};
    job.job_id = row.id;
    job.job_state = row.state;
    job.priority = row.priority;
    job.partition = row.partition ? partitions[jobs.size()].data() : nullptr;
    jobs.push_back(job);
  }
  std::vector<const job_info_t*> pointers;
  for (const job_info_t& job : jobs) pointers.push_back(&job);
  const auto positions = queue_positions(pointers);
  for (const auto& row : rows) {
    const auto found = positions.find(row.id);
    assert_int_equal(found == positions.end() ? 0 : found->second, row.position);
  }
}

void a_job_that_waits_has_no_nodes(void**) {
  WithNodes job("c-[0-1]", {0, 1}, {8}, {2});
  job.info.job_state = JOB_PENDING;
  assert_text(job.decoded(), "");
  job.info.job_state = JOB_COMPLETE | JOB_COMPLETING;
  assert_text(job.decoded(), "c-0=8 c-1=8");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(the_least_that_can_be_asked_for),
      SLURMK8S_TEST(all_that_can_be_asked_for),
      SLURMK8S_TEST(other_nodes_are_excluded),
      SLURMK8S_TEST(nodes_are_excluded_by_name),
      SLURMK8S_TEST(one_node_is_required),
      SLURMK8S_TEST(a_held_job_has_no_priority),
      SLURMK8S_TEST(its_user_is_in_the_environment),
      SLURMK8S_TEST(requests_that_are_refused),
      SLURMK8S_TEST(what_a_state_means),
      SLURMK8S_TEST(slurms_words_for_a_reason),
      SLURMK8S_TEST(each_field),
      SLURMK8S_TEST(only_comments_that_begin_so),
      SLURMK8S_TEST(nodes_of_one_size_need_no_names),
      SLURMK8S_TEST(cpus_belong_to_the_nodes_of_the_table),
      SLURMK8S_TEST(memory_of_a_node),
      SLURMK8S_TEST(gpus_belong_to_the_nodes_of_the_table),
      SLURMK8S_TEST(jobs_without_details),
      SLURMK8S_TEST(positions_are_by_partition_and_priority),
      SLURMK8S_TEST(a_job_that_waits_has_no_nodes),
  };
  return cmocka_run_group_tests_name("slurm_rpc_allocation_fields", tests, nullptr, nullptr);
}
