// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/partition_plan: what is changed in Slurm for the partition of one NodeSet, and what its condition says.
#include "sidecar/partition_plan.hpp"

#include <optional>

#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;

namespace {

/** NodeSet gpu with this spec.partition; nothing: there is no such NodeSet. */
NodeSets nodesets(const char* partition) {
  NodeSets all;
  if (partition == nullptr) return all;
  const auto object =
      Json::parse(format(R"({"metadata":{"namespace":"slurm","name":"gpu"},"spec":{"partition":%s,)"
                         R"("slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1Gi"}}}}})",
                         partition));
  all.insert_or_assign("gpu", KnownNodeSet{.generation = 1, .spec = decode_nodeset(*object)});
  return all;
}

/** Those that spec.partition asks for and the defaults of all others, with these in the place of theirs. */
PartitionOptions options(const char* spec, const PartitionOptions& others) {
  PartitionOptions all = *nodesets(spec).at("gpu").spec->partition;
  for (const auto& [key, value] : others) all[key] = value;
  return all;
}

SlurmPartition partition(const char* nodes, PartitionOptions options) {
  return {.name = "gpu", .nodes = nodes, .options = std::move(options)};
}

std::string actions(const PartitionPlan& plan) {
  std::string text;
  for (const PartitionAction& action : plan.actions) text += (text.empty() ? "" : "; ") + action.text();
  return text;
}

std::string condition(const PartitionPlan& plan) {
  const auto found = plan.conditions.find("gpu");
  if (found == plan.conditions.end()) return "";
  return (found->second.status ? "True " : "False ") + found->second.reason;
}

void plans_one_partition(void**) {
  constexpr const char* kWanted = R"({"enabled":true,"config":"MaxTime=60"})";
  constexpr const char* kDisabled = R"({"enabled":false})";
  constexpr const char* kInvalid = R"({"enabled":true,"config":"MaxTime=soon"})";
  const Status kept, lost = Error(Errc::invalid, "no KeepPartInfo");
  const PartitionOptions ours = options(kWanted, {{"DenyAccounts", kMadeByUs}});
  const PartitionOptions foreign{{"DenyAccounts", "x"}};
  const PartitionOptions leaving = options(kWanted, {{"DenyAccounts", std::string(kMadeByUs) + "," + kLeaving}});
  const PartitionOptions shorter = options(kWanted, {{"DenyAccounts", kMadeByUs}, {"MaxTime", "5"}});
  const std::string removal = "update gpu DenyAccounts=made-by-slurm-k8s,leaving-slurm-k8s State=DRAIN; delete gpu";
  const struct {
    const char* what;
    const char* spec;
    std::optional<SlurmPartition> have;
    Status keeps;
    std::string actions;
    const char* condition;
  } rows[] = {
      {"there is none", kWanted, {}, kept, "create gpu", "False Creating"},
      {"there is none, and slurmctld would forget it", kWanted, {}, lost, "", "False NotKept"},
      {"as it should be", kWanted, partition("gpu-[0-1]", ours), kept, "", "True PartitionMatches"},
      {"its nodes in other words", kWanted, partition("gpu-1,gpu-0", ours), kept, "", "True PartitionMatches"},
      {"as it should be, for now", kWanted, partition("gpu-[0-1]", ours), lost, "", "False NotKept"},
      {"other nodes", kWanted, partition("gpu-0", ours), kept, "update gpu Nodes=gpu-[0-1]", "False Updating"},
      {"another option", kWanted, partition("gpu-[0-1]", shorter), kept, "update gpu MaxTime=60", "False Updating"},
      {"wanted again", kWanted, partition("gpu-[0-1]", leaving), kept,
       "update gpu DenyAccounts=made-by-slurm-k8s State=UP", "False Updating"},
      {"somebody else's", kWanted, partition("x", foreign), kept, "", "False NameTaken"},
      {"not wanted, somebody else's", kDisabled, partition("x", foreign), kept, "", "False Disabled"},
      {"not wanted, there is none", kDisabled, {}, kept, "", "False Disabled"},
      {"not wanted any more", kDisabled, partition("gpu-[0-1]", ours), kept, removal, "False Leaving"},
      {"not wanted any more, in use", kDisabled, partition("gpu-[0-1]", leaving), kept, "delete gpu", "False Leaving"},
      {"its NodeSet is gone", nullptr, partition("gpu-[0-1]", ours), kept, removal, ""},
      {"no NodeSet, somebody else's", nullptr, partition("x", foreign), kept, "", ""},
      {"the spec is invalid", kInvalid, partition("gpu-[0-1]", ours), kept, "", "True InvalidSpec"},
      {"the spec is invalid, there is none", kInvalid, {}, kept, "", "False InvalidSpec"},
  };
  std::vector<SlurmNode> nodes;
  for (const char* name : {"gpu-0", "gpu-1", "other-0"}) nodes.push_back(FakeSlurm::cloud_node(name));
  for (const auto& row : rows) {
    std::vector<SlurmPartition> partitions;
    if (row.have) partitions.push_back(*row.have);
    const PartitionPlan plan = plan_partitions(nodesets(row.spec), nodes, partitions, row.keeps);
    if (actions(plan) != row.actions || condition(plan) != row.condition) {
      fail_msg("%s: %s: %s", row.what, actions(plan).c_str(), condition(plan).c_str());
    }
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(plans_one_partition),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
