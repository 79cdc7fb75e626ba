// SPDX-License-Identifier: GPL-2.0-or-later
// engine/node_report: changes of several nodes while the sidecar deletes some of them.
#include "engine/node_report.hpp"

#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/deleted_nodes.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using World = DeletedNodes;
const std::vector<std::string>& kNodes = World::kNodes;

void powering_down(SlurmNode& node) {
  node.powered_down = false;
  node.powering_down = true;
}

void power_downs_are_ended_behind_a_deleted_node(void**) {
  World world({"c-1"}, powering_down);
  assert_true(finish_power_down(world.slurm, kNodes).ok());
  for (const char* name : {"c-0", "c-2", "c-3"}) {
    assert_true(world.slurm.node(name).powered_down);
    assert_false(world.slurm.node(name).powering_down);
  }
}

void several_are_deleted(void**) {
  World world({"c-0", "c-2", "c-1"}, powering_down);
  assert_true(finish_power_down(world.slurm, kNodes).ok());
  assert_true(world.slurm.node("c-3").powered_down);
  World all({"c-[0-3]"}, powering_down);
  assert_true(finish_power_down(all.slurm, kNodes).ok());
}

/** Those that have been changed already aren't changed again: they may have a job by now. */
void what_is_done_stays(void**) {
  World world({"c-2"}, powering_down);
  assert_true(finish_power_down(world.slurm, kNodes).ok());
  assert_text(world.slurm.calls.front(), "resume c-[0-3]");
  assert_text(world.slurm.calls.back(), "resume c-3");
}

void given_up_nodes_are_released_behind_a_deleted_node(void**) {
  World world({"c-0"}, [](SlurmNode& node) {
    node.base = Base::down;
    node.reason = std::string(kReason) + "image can't be pulled";
  });
  assert_true(release_nodes(world.slurm, kNodes).ok());
  for (const char* name : {"c-1", "c-2", "c-3"}) assert_true(world.slurm.node(name).power_down_asked);
}

void a_nodeset_is_protected_behind_a_deleted_node(void**) {
  World world({"c-1"}, [](SlurmNode&) {});
  assert_true(protect_nodeset(world.slurm, "c", "no quota").ok());
  for (const char* name : {"c-0", "c-2", "c-3"}) assert_true(world.slurm.node(name).draining);
  world.slurm.on_update = [&] {
    if (world.slurm.has("c-0")) assert_true(world.slurm.delete_nodes("c-0").ok());
  };
  assert_true(unprotect_nodeset(world.slurm, "c").ok());
  for (const char* name : {"c-2", "c-3"}) assert_false(world.slurm.node(name).draining);
}

/** What slurmctld refuses for another reason is an error, once. */
void another_error_is_told(void**) {
  World world({}, powering_down);
  world.slurm.failures = {Error(Errc::unavailable, "slurm: away")};
  assert_false(finish_power_down(world.slurm, kNodes).ok());
  assert_int_equal(world.slurm.calls.size(), 1);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(power_downs_are_ended_behind_a_deleted_node),
      SLURMK8S_TEST(several_are_deleted),
      SLURMK8S_TEST(what_is_done_stays),
      SLURMK8S_TEST(given_up_nodes_are_released_behind_a_deleted_node),
      SLURMK8S_TEST(a_nodeset_is_protected_behind_a_deleted_node),
      SLURMK8S_TEST(another_error_is_told),
  };
  return cmocka_run_group_tests_name("engine_node_report", tests, nullptr, nullptr);
}
