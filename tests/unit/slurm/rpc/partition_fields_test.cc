// SPDX-License-Identifier: GPL-2.0-or-later
// lib/slurm/partition_fields: what is written into libslurm's struct reads the same. The struct is that of the Slurm
// which the tests are built with.
#include "slurm/rpc/partition_fields.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

/** As slurm_init_part_desc_msg() makes it. */
update_part_msg_t unset() {
  update_part_msg_t message{};
  message.default_time = message.grace_time = message.max_cpus_per_node = message.max_nodes = message.max_time =
      message.min_nodes = NO_VAL;
  message.max_share = message.over_time_limit = message.preempt_mode = message.priority_job_factor =
      message.priority_tier = message.state_up = NO_VAL16;
  message.def_mem_per_cpu = message.max_mem_per_cpu = NO_VAL64;
  return message;
}

void every_option_is_written_and_read(void**) {
  const char* configs[] = {
      "",
      "AllowAccounts=a,b AllowGroups=c AllowQos=d DenyAccounts=e DenyQos=f QOS=g TRESBillingWeights=CPU=1.0",
      "Default=YES DisableRootJobs=YES ExclusiveUser=YES Hidden=YES LLN=YES ReqResv=YES RootOnly=YES",
      "DefaultTime=30 GraceTime=60 MaxCPUsPerNode=4 MaxNodes=5 MaxTime=1-0 MinNodes=2 OverTimeLimit=9",
      "PriorityJobFactor=7 PriorityTier=3 PreemptMode=REQUEUE State=DRAIN OverSubscribe=FORCE:2",
      "DefMemPerCPU=100 MaxMemPerNode=2000 OverSubscribe=YES:8 State=INACTIVE PreemptMode=OFF",
      "DefMemPerNode=100 MaxMemPerCPU=2000 OverSubscribe=EXCLUSIVE State=DOWN PreemptMode=CANCEL",
      "State=UP PreemptMode=SUSPEND DefaultTime=UNLIMITED",
  };
  std::map<std::string, int> seen;
  for (const char* config : configs) {
    const auto options = parse_partition_options(config);
    assert_ok(options);
    const SlurmPartition partition{"gpu", "gpu-[0-3]", *options};
    update_part_msg_t message = unset();
    encode_partition(partition, message);
    const SlurmPartition read = decode_partition(message);
    assert_text(read.name, "gpu");
    assert_text(read.nodes, "gpu-[0-3]");
    for (const auto& [key, value] : *options) {
      seen[key]++;
      if (!read.options.contains(key)) fail_msg("%s isn't read", key.c_str());
      assert_text(key + "=" + read.options.at(key), key + "=" + value);
    }
  }
  assert_int_equal(seen.size(), partition_options().size());
}

void a_change_sets_only_what_it_has(void**) {
  const SlurmPartition change{"gpu", "", {{"MaxTime", "60"}, {"Hidden", "NO"}}};
  update_part_msg_t message = unset();
  encode_partition(change, message);
  assert_null(message.nodes);
  assert_null(message.allow_groups);
  assert_int_equal(message.max_time, 60);
  assert_int_equal(message.flags, PART_FLAG_HIDDEN_CLR);
  assert_int_equal(message.priority_tier, NO_VAL16);
  assert_int_equal(message.max_share, NO_VAL16);
  assert_true(message.def_mem_per_cpu == NO_VAL64);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(every_option_is_written_and_read),
      SLURMK8S_TEST(a_change_sets_only_what_it_has),
  };
  return cmocka_run_group_tests_name("slurm_partition_fields", tests, nullptr, nullptr);
}
