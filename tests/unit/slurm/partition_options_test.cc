// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/partition_options: one spelling for what slurm.conf may say of a partition.
#include "slurm/partition_options.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void values_have_one_spelling(void**) {
  const struct {
    const char* config;
    const char* key;
    const char* value;
  } cases[] = {
      {"MaxTime=30", "MaxTime", "30"},
      {"MaxTime=30:01", "MaxTime", "31"},
      {"MaxTime=1:00:00", "MaxTime", "60"},
      {"MaxTime=2000000", "MaxTime", "2000000"},
      {"MaxTime=1-0", "MaxTime", "1440"},
      {"MaxTime=1-2:30", "MaxTime", "1590"},
      {"MaxTime=1-2:30:30", "MaxTime", "1591"},
      {"maxtime=infinite", "MaxTime", "UNLIMITED"},
      {"MaxTime=-1", "MaxTime", "UNLIMITED"},
      {"MaxNodes=UNLIMITED", "MaxNodes", "UNLIMITED"},
      {"MaxNodes=007", "MaxNodes", "7"},
      {"Default=yes", "Default", "YES"},
      {"AllowGroups=all", "AllowGroups", ""},
      {"AllowAccounts=a,B", "AllowAccounts", "a,B"},
      {"State=down", "State", "DOWN"},
      {"OverSubscribe=exclusive", "OverSubscribe", "EXCLUSIVE"},
      {"OverSubscribe=YES", "OverSubscribe", "YES:4"},
      {"OverSubscribe=FORCE:1", "OverSubscribe", "FORCE:1"},
      {"PreemptMode=requeue", "PreemptMode", "REQUEUE"},
      {"DefMemPerCPU=2000", "DefMemPerCPU", "2000"},
      {"TRESBillingWeights=CPU=1.0,Mem=0.25G", "TRESBillingWeights", "CPU=1.0,Mem=0.25G"},
  };
  for (const auto& c : cases) {
    const auto options = parse_partition_options(std::string("  ") + c.config + " ");
    assert_ok(options);
    assert_text(options->at(c.key), c.value);
  }
}

void what_is_not_given_has_its_default(void**) {
  const auto options = parse_partition_options("");
  assert_ok(options);
  assert_text(options->at("MaxTime"), "UNLIMITED");
  assert_text(options->at("PriorityTier"), "1");
  assert_text(options->at("AllowGroups"), "");
  for (const char* key : {"State", "DefaultTime", "DefMemPerCPU", "PreemptMode"}) assert_false(options->contains(key));
}

void wrong_ones_are_named(void**) {
  const struct {
    const char* config;
    const char* what;
  } cases[] = {
      {"MaxTime", "MaxTime: must be KEY=VALUE"},
      {"MaxTime=", "MaxTime=: must be KEY=VALUE"},
      {"=1", "=1: must be KEY=VALUE"},
      {"MaxTime=soon", "MaxTime=soon: must be a time such as 30, 1:00:00, 1-0 or UNLIMITED"},
      {"MaxTime=1:2:3:4", "must be a time such as"},
      {"MaxTime=9999999999", "must be a time such as"},
      {"MaxTime=-5", "must be a time such as"},
      {"MaxNodes=-2", "MaxNodes=-2: must be a number from 0 to"},
      {"PriorityTier=70000", "must be a number from 0 to 65520"},
      {"Default=maybe", "Default=maybe: must be YES or NO"},
      {"State=AWAY", "must be UP, DOWN, DRAIN or INACTIVE"},
      {"OverSubscribe=YES:1", "must be a number of jobs"},
      {"OverSubscribe=NO:2", "must be NO, EXCLUSIVE, YES[:n] or FORCE[:n]"},
      {"PreemptMode=GANG", "must be OFF, CANCEL, REQUEUE or SUSPEND"},
      {"Nodes=c-0", "Nodes=c-0: Nodes is not supported here"},
      {"PartitionName=x", "PartitionName is not supported here"},
      {"MaxTime=1 maxtime=2", "maxtime=2: duplicate key"},
      {"DefMemPerCPU=1 DefMemPerNode=1", "DefMemPerCPU and DefMemPerNode: only one may be set"},
      {"MaxTime=1\nPartitionName=x", "must be one line of printable characters"},
      {"QOS='a'", "must be one line of printable characters"},
  };
  for (const auto& c : cases) assert_error(parse_partition_options(c.config), Errc::invalid, c.what);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(values_have_one_spelling),
      SLURMK8S_TEST(what_is_not_given_has_its_default),
      SLURMK8S_TEST(wrong_ones_are_named),
  };
  return cmocka_run_group_tests_name("slurm_partition_options", tests, nullptr, nullptr);
}
