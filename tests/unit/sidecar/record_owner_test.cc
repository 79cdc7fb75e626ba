// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/record_owner: whose a record is.
#include "sidecar/record_owner.hpp"

#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;

namespace {

NodeSets nodesets() {
  NodeSets all;
  const std::pair<const char*, const char*> modes[] = {
      {"gpu", "OnDemand"}, {"gpu-big", "OnDemand"}, {"ds", "DaemonSet"}, {"ex", "External"}, {"bad", "Sometimes"}};
  for (const auto& [name, mode] : modes) {
    const auto object =
        Json::parse(format(R"({"metadata":{"namespace":"slurm","name":"%s"},"spec":{"scalingMode":"%s",)"
                           R"("slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}}})",
                           name, mode));
    all.insert_or_assign(name, KnownNodeSet{.generation = 1, .spec = decode_nodeset(*object)});
  }
  return all;
}

SlurmNode record(const char* name, const char* features = "") {
  SlurmNode node = FakeSlurm::cloud_node(name);
  node.features = features;
  return node;
}

SlurmNode with(SlurmNode node, bool SlurmNode::*flag, bool value) {
  node.*flag = value;
  return node;
}

SlurmNode external(const char* name, const char* features = "") {
  return with(with(record(name, features), &SlurmNode::cloud, false), &SlurmNode::external, true);
}

void records_have_owners(void**) {
  const NodeSets all = nodesets();
  const struct {
    const char* what;
    SlurmNode record;
    const char* owner;  ///< empty: none
  } rows[] = {
      {"an ordinal", record("gpu-0"), "gpu"},
      {"an ordinal, whatever its features", record("gpu-0", "gpu-big"), "gpu"},
      {"the longer name", record("gpu-big-0", "gpu"), "gpu-big"},
      {"of an invalid spec", record("bad-0"), "bad"},
      {"of a DaemonSet, by its feature", record("ds-m1", "ds"), "ds"},
      {"of a DaemonSet, a name like an ordinal", record("ds-1", "ds"), "ds"},
      {"of a DaemonSet, without the feature", record("ds-1"), ""},
      {"of a NodeSet that is gone", record("gone-0", "a,gone"), "gone"},
      {"of one that is gone, two features fit", record("old-gone-0", "old,old-gone"), "old-gone"},
      {"a name of nobody's", record("login"), ""},
      {"a node of slurm.conf", with(record("gpu-0"), &SlurmNode::dynamic, false), ""},
      {"of external nodes, by its feature", external("ex-m1", "ex"), "ex"},
      {"an external node without the feature", external("ex-m1"), ""},
      {"no cloud node", with(record("gpu-0"), &SlurmNode::cloud, false), ""},
  };
  for (const auto& row : rows) {
    const std::string owner = record_owner(row.record, all).value_or("");
    if (owner != row.owner) fail_msg("%s: %s", row.what, owner.c_str());
  }
}

void names_are_those_of_the_engine(void**) {
  const NodeSets all = nodesets();
  assert_true(is_name_of("gpu", "gpu-7", all));
  assert_true(is_name_of("ds", "ds-m-1", all));
  assert_false(is_name_of("gpu", "gpu-big-7", all));
  assert_false(is_name_of("gone", "gone-0", all));
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(records_have_owners),
      SLURMK8S_TEST(names_are_those_of_the_engine),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
