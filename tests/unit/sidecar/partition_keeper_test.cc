// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/partition_keeper: partitions of NodeSets, on a Slurm in memory. The plan alone: partition_plan_test.
#include "sidecar/partition_keeper.hpp"

#include "base/random.hpp"
#include "base/strings.hpp"
#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"
#include "support/steps.hpp"

namespace slurmk8s {
namespace {

using std::chrono::seconds;

struct Fixture {
  FakeSlurm slurm;
  FakeClock clock;
  NodeSets nodesets;
  PartitionKeeper keeper;
  std::uint64_t version = 0;

  explicit Fixture(Jitter jitter = [] { return 0.5; }) : keeper(slurm, slurm, clock, std::move(jitter)) {
    for (int i = 0; i < 4; i++) slurm.node("gpu-" + std::to_string(i));
    slurm.node("other-0");
  }
  void put(const std::string& name, const std::string& partition) {
    const auto object = Json::parse(
        format(R"({"metadata":{"namespace":"slurm","name":"%s"},"spec":{"slurmd":{"image":"i","resources":{"limits":)"
               R"({"cpu":"2","memory":"1000Mi"}}},"partition":%s}})",
               name.c_str(), partition.c_str()));
    nodesets.insert_or_assign(name, KnownNodeSet{.generation = 1, .spec = decode_nodeset(*object)});
    version++;
  }
  void enable(const std::string& config = "", const std::string& name = "gpu") {
    put(name, R"({"enabled":true,"config":")" + config + "\"}");
  }
  /** A partition of an administrator's. */
  void add_foreign(const char* name) {
    slurm.partitions[name] = {name, "other-0", {{"DenyAccounts", "x"}, {"MaxTime", "5"}}};
    slurm.touch_partitions();
  }
  void rounds(int count) {
    for (int i = 0; i < count; i++) {
      keeper.round(nodesets, records(), version);
      clock.advance(seconds(1));
    }
  }
  std::vector<SlurmNode> records() {
    std::vector<SlurmNode> all;
    const auto names = expand_hostlist(slurm.names());
    for (const std::string& name : *names) all.push_back(slurm.node(name));
    return all;
  }
  /** Calls since the last time, without those that only read. */
  std::string calls() {
    std::string text;
    for (const std::string& call : slurm.calls) text += (text.empty() ? "" : "\n") + call;
    slurm.calls.clear();
    return text;
  }
  std::string condition(const std::string& name = "gpu") const {
    const Condition one = keeper.condition(name);
    return std::string(one.status ? "True " : "False ") + one.reason + ": " + one.message;
  }
};

void is_made_changed_and_removed(void**) {
  Fixture f;
  f.enable("MaxTime=1:00:00 AllowGroups=a,b");
  f.rounds(1);
  assert_text(f.calls(), "create partition gpu");
  const SlurmPartition& made = f.slurm.partitions.at("gpu");
  assert_text(made.nodes, "gpu-[0-3]");
  assert_text(made.options.at("MaxTime"), "60");
  assert_text(made.options.at("DenyAccounts"), "made-by-slurm-k8s");
  assert_text(f.condition(), "True PartitionMatches: partition gpu as the spec says");

  f.enable("MaxTime=2-0 DenyAccounts=c");  // what isn't given any more is as by default
  f.rounds(1);
  assert_text(f.calls(), "update partition gpu AllowGroups= DenyAccounts=made-by-slurm-k8s,c MaxTime=2880");

  f.slurm.node("gpu-4");
  f.version++;
  f.rounds(1);
  assert_text(f.calls(), "update partition gpu Nodes=gpu-[0-4]");
  assert_contains(f.condition(), "True ");

  f.put("gpu", R"({"enabled":false,"config":"MaxTime=1"})");
  f.rounds(1);
  assert_text(f.calls(),
              "update partition gpu DenyAccounts=made-by-slurm-k8s,leaving-slurm-k8s State=DRAIN\n"
              "delete partition gpu");
  assert_true(f.slurm.partitions.empty());
  assert_text(f.condition(), "False Disabled: spec.partition.enabled is false");
}

void nothing_changes_nothing_is_asked(void**) {
  Fixture f;
  f.enable();
  f.rounds(2);
  const int loads = f.slurm.partition_loads;
  f.calls();
  f.rounds(120);
  assert_int_equal(f.slurm.partition_loads, loads);
  assert_text(f.calls(), "");

  Fixture g;  // no partition to keep
  g.put("gpu", "null");
  g.rounds(120);
  assert_int_equal(g.slurm.partition_loads, 1);
}

void partitions_of_others_are_left_alone(void**) {
  Fixture f;
  f.add_foreign("gpu");
  f.add_foreign("all");
  f.enable("MaxTime=1");
  f.rounds(5);
  assert_text(f.condition(), "False NameTaken: slurm has a partition gpu that slurm-k8s did not create");
  f.put("gpu", R"({"enabled":false})");
  f.rounds(5);
  f.nodesets.clear();
  f.version++;
  f.rounds(5);
  assert_text(f.calls(), "");
}

void slurmctld_that_would_forget_gets_none(void**) {
  Fixture f;
  f.slurm.keeps = Error(Errc::invalid, "slurm.conf has no ReconfigFlags=KeepPartInfo");
  f.enable();
  f.rounds(5);
  assert_text(f.calls(), "");
  assert_text(f.condition(), "False NotKept: slurm.conf has no ReconfigFlags=KeepPartInfo");
  f.slurm.keeps = Status();
  f.rounds(5);
  assert_text(f.condition(), "False NotKept: slurm.conf has no ReconfigFlags=KeepPartInfo");
  f.keeper.forget_config();
  f.rounds(2);
  assert_contains(f.condition(), "True ");
  f.slurm.keeps = Error(Errc::invalid, "not any more");  // it is there, and is kept as it should be
  f.enable("MaxTime=5");
  f.rounds(60);
  assert_text(f.slurm.partitions.at("gpu").options.at("MaxTime"), "5");
  assert_text(f.condition(), "False NotKept: not any more");
}

void what_is_lost_or_changed_is_mended(void**) {
  Fixture f;
  f.enable("MaxTime=60");
  f.rounds(1);
  f.calls();
  f.slurm.partitions.clear();  // slurmctld came back without its state
  f.slurm.touch_partitions();
  f.rounds(1);
  assert_text(f.calls(), "create partition gpu");
  f.slurm.partitions["gpu"].options["MaxTime"] = "5";
  f.slurm.partitions["gpu"].options["State"] = "DRAIN";  // an administrator's: it stays
  f.slurm.touch_partitions();
  f.rounds(2);
  assert_text(f.calls(), "update partition gpu MaxTime=60");
  assert_text(f.slurm.partitions["gpu"].options["State"], "DRAIN");
}

void one_in_use_goes_later(void**) {
  Fixture f;
  f.enable();
  f.rounds(1);
  f.slurm.used_partitions.insert("gpu");
  f.put("gpu", R"({"enabled":false})");
  f.rounds(3);
  assert_text(f.slurm.partitions.at("gpu").options.at("State"), "DRAIN");
  assert_contains(f.condition(), "False Leaving: removed when no job and no reservation uses it: delete gpu: ");
  f.enable();  // it is wanted again
  f.rounds(1);
  assert_text(f.slurm.partitions.at("gpu").options.at("State"), "UP");
  assert_contains(f.condition(), "True ");
  f.nodesets.clear();  // the NodeSet is deleted
  f.version++;
  f.rounds(3);
  f.slurm.used_partitions.clear();
  f.rounds(90);
  assert_true(f.slurm.partitions.empty());
}

void refusals_are_told_and_tried_again(void**) {
  Fixture f;
  f.slurm.failures.assign(3, Error(Errc::invalid, "slurm: Invalid qos specification"));
  f.enable("QOS=none");
  f.rounds(1);
  assert_text(f.condition(), "False SlurmRefused: create gpu: slurm: Invalid qos specification");
  f.rounds(40);
  assert_int_equal(f.slurm.calls.size(), 4);
  assert_contains(f.condition(), "True ");
}

void two_that_fight_do_so_slowly(void**) {
  Fixture f;
  f.enable("Default=YES");
  f.rounds(1);
  f.calls();
  for (int i = 0; i < 300; i++) {  // somebody else sets it back every second
    f.slurm.partitions["gpu"].options["Default"] = "NO";
    f.slurm.touch_partitions();
    f.rounds(1);
  }
  assert_text(f.condition(), "False Updating: update gpu Default=YES");
  assert_true(f.slurm.calls.size() < 20);
}

void slurmctld_away(void**) {
  Fixture f;
  f.enable();
  assert_contains(f.condition(), "False Unknown");
  f.slurm.fail_loads = true;
  f.slurm.failures.assign(5, Error(Errc::unavailable, "slurm: Unable to contact slurm controller"));
  f.rounds(5);
  assert_text(f.calls(), "");
  f.rounds(2);
  assert_contains(f.condition(), "True ");
}

void a_bad_config_is_the_nodesets(void**) {
  Fixture f;
  f.enable("MaxTime=1");
  f.rounds(1);
  f.enable("MaxTime=soon");
  assert_error(f.nodesets.at("gpu").spec, Errc::invalid,
               "nodeset slurm/gpu: spec.partition.config: Invalid value: \"MaxTime=soon\": MaxTime=soon: must be a "
               "time such as");
  f.calls();
  f.rounds(3);
  assert_text(f.calls(), "");
  assert_text(f.condition(), "True InvalidSpec: as it was before the spec became invalid");
}

void are_not_tried_again_in_step(void**) {
  Fixture f(random_unit);
  f.slurm.failures.assign(1000, Error(Errc::forbidden, "no"));
  f.enable("", "gpu");
  f.enable("", "other");
  assert_false(stay_in_step(2, 400, [&] {
    f.slurm.calls.clear();
    f.rounds(1);
    return f.slurm.calls.size();
  }));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(is_made_changed_and_removed),
      SLURMK8S_TEST(nothing_changes_nothing_is_asked),
      SLURMK8S_TEST(partitions_of_others_are_left_alone),
      SLURMK8S_TEST(slurmctld_that_would_forget_gets_none),
      SLURMK8S_TEST(what_is_lost_or_changed_is_mended),
      SLURMK8S_TEST(one_in_use_goes_later),
      SLURMK8S_TEST(refusals_are_told_and_tried_again),
      SLURMK8S_TEST(two_that_fight_do_so_slowly),
      SLURMK8S_TEST(slurmctld_away),
      SLURMK8S_TEST(a_bad_config_is_the_nodesets),
      SLURMK8S_TEST(are_not_tried_again_in_step),
  };
  return cmocka_run_group_tests_name("sidecar_partition_keeper", tests, nullptr, nullptr);
}
