// SPDX-License-Identifier: GPL-2.0-or-later
// engine/stuck_pods: changes of several nodes while the sidecar deletes some of them.
#include "engine/stuck_pods.hpp"

#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/deleted_nodes.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
const std::vector<std::string>& kNodes = DeletedNodes::kNodes;
const std::string kWhy = "pod is being deleted since 40 s";

class World : public DeletedNodes {
 public:
  using DeletedNodes::DeletedNodes;

  Status report() {
    std::map<std::string, StuckPod> pods;
    for (const std::string& name : kNodes) pods[name] = {kWhy, {}};
    const auto verdicts = report_stuck(slurm, pods);
    return verdicts ? Status() : Status(verdicts.error());
  }
};

void up(SlurmNode& node) { node.powered_down = false; }

void waited_for(SlurmNode& node) {
  node.powered_down = false;
  node.powering_up = true;
}

void drained(SlurmNode& node) {
  node.powered_down = false;
  node.draining = true;
  node.reason = build_reason(kReasonNotDeleted, kWhy);
}

void drained_and_powered_down(SlurmNode& node) {
  drained(node);
  node.powered_down = true;
}

void drained_and_powering_down(SlurmNode& node) {
  drained(node);
  node.powering_down = true;
}

void nodes_are_drained_behind_a_deleted_node(void**) {
  World world({"c-1", "c-2"}, up);
  assert_true(world.report().ok());
  for (const char* name : {"c-0", "c-3"}) assert_true(world.slurm.node(name).draining);
  assert_text(world.slurm.calls.back(), "drain c-3 " + build_reason(kReasonNotDeleted, kWhy));
}

void nodes_are_given_up_behind_a_deleted_node(void**) {
  World world({"c-0", "c-2"}, waited_for);
  assert_true(world.report().ok());
  for (const char* name : {"c-1", "c-3"}) {
    assert_int_equal(world.slurm.node(name).base, Base::down);
    assert_true(world.slurm.node(name).power_down_asked);
  }
}

/** One is deleted after they were set DOWN: the others are powered down all the same. */
void nodes_are_powered_down_behind_a_deleted_node(void**) {
  World world({}, waited_for);
  int changes = 0;
  world.slurm.on_update = [&] {
    if (++changes == 2) assert_true(world.slurm.delete_nodes("c-0").ok());
  };
  assert_true(world.report().ok());
  for (const char* name : {"c-1", "c-2", "c-3"}) assert_true(world.slurm.node(name).power_down_asked);
}

/** One of each job's nodes is told, once; what somebody else wrote stays. */
void jobs_are_told_once(void**) {
  World world({}, waited_for);
  world.slurm.jobs[7].admin_comment = R"({"project":7})";
  world.slurm.jobs[8] = {};
  std::map<std::string, StuckPod> pods;
  for (const std::string& name : kNodes) pods[name] = {kWhy, {7, 8}};
  assert_true(report_stuck(world.slurm, pods).ok());
  assert_text(world.slurm.jobs[7].admin_comment, R"({"project":7})");
  assert_text(world.slurm.jobs[8].admin_comment, "slurm-k8s: node c-0: pod " + kWhy);
  assert_int_equal(world.slurm.comments.size(), 1);
}

/** Its job may run by then: it goes on, and the node takes no other one. */
void a_node_that_registers_meanwhile_is_drained(void**) {
  World world({}, waited_for);
  world.slurm.jobs[8] = {};
  world.slurm.on_comment = [&] { world.slurm.node("c-1").powering_up = false; };
  std::map<std::string, StuckPod> pods;
  for (const std::string& name : kNodes) pods[name] = {kWhy, {8}};
  const auto verdicts = report_stuck(world.slurm, pods);
  assert_true(verdicts.ok() && verdicts->at("c-1") == StuckVerdict::drain);
  assert_true(world.slurm.node("c-1").draining && !world.slurm.node("c-1").power_down_asked);
  assert_true(verdicts->at("c-0") == StuckVerdict::give_up);
  assert_true(world.slurm.node("c-0").power_down_asked);
}

void nodes_are_released_behind_a_deleted_node(void**) {
  World up_again({"c-1"}, drained);
  assert_true(release_stuck(up_again.slurm, kNodes).ok());
  for (const char* name : {"c-0", "c-2", "c-3"}) assert_false(up_again.slurm.node(name).draining);

  World powered_down({"c-0"}, drained_and_powered_down);
  assert_true(release_stuck(powered_down.slurm, kNodes).ok());
  for (const char* name : {"c-1", "c-2", "c-3"}) assert_true(powered_down.slurm.node(name).power_down_asked);

  World powering_down({"c-2"}, drained_and_powering_down);
  assert_true(release_stuck(powering_down.slurm, kNodes).ok());
  for (const char* name : {"c-0", "c-1", "c-3"}) {
    assert_false(powering_down.slurm.node(name).draining);
    assert_true(powering_down.slurm.node(name).powered_down);
  }
}

void all_are_deleted(void**) {
  World world({"c-[0-3]"}, drained);
  assert_true(release_stuck(world.slurm, kNodes).ok());
  assert_int_equal(world.slurm.size(), 0);
}

/** What slurmctld refuses for another reason is an error, once. */
void another_error_is_told(void**) {
  World world({}, drained);
  world.slurm.failures = {Error(Errc::unavailable, "slurm: away")};
  assert_false(release_stuck(world.slurm, kNodes).ok());
  assert_int_equal(world.slurm.calls.size(), 1);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(nodes_are_drained_behind_a_deleted_node),
      SLURMK8S_TEST(nodes_are_given_up_behind_a_deleted_node),
      SLURMK8S_TEST(nodes_are_powered_down_behind_a_deleted_node),
      SLURMK8S_TEST(jobs_are_told_once),
      SLURMK8S_TEST(a_node_that_registers_meanwhile_is_drained),
      SLURMK8S_TEST(nodes_are_released_behind_a_deleted_node),
      SLURMK8S_TEST(all_are_deleted),
      SLURMK8S_TEST(another_error_is_told),
  };
  return cmocka_run_group_tests_name("engine_stuck_pods", tests, nullptr, nullptr);
}
