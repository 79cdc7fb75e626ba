// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/pins: where nodes are pinned, and when no more.
#include "sidecar/pins.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

/** NodeSet c of 2 nodes with records c-0 and c-1, and Kubernetes nodes m0 to m2. */
struct World {
  NodeSet nodeset;
  std::vector<SlurmNode> nodes{FakeSlurm::cloud_node("c-0"), FakeSlurm::cloud_node("c-1")};
  Pods pods;
  KubeNodes kube_nodes{{"m0", {}}, {"m1", {}}, {"m2", {}}};

  World() {
    nodeset.name = "c";
    nodeset.replicas = 2;
    nodeset.pins_nodes = true;
  }
  Pins plan(const Pins& before, bool known = true) const {
    std::map<std::string_view, const SlurmNode*> records;
    for (const SlurmNode& node : nodes) records.emplace(node.name, &node);
    return plan_pins(nodeset, before, records, pods, known ? &kube_nodes : nullptr);
  }
};

void a_node_is_pinned_to_where_its_pod_is(void**) {
  World world;
  assert_true(world.plan({}).empty());
  world.pods = {{"c-0", {.kube_node = "m0"}}, {"c-1", {}}, {"c-7", {.kube_node = "m1"}}, {"d-1", {.kube_node = "m1"}}};
  assert_true(world.plan({}) == (Pins{{"0", "m0"}}));
  assert_true(world.plan({{"0", "m2"}, {"1", "m1"}}) == (Pins{{"0", "m0"}, {"1", "m1"}}));
  world.nodeset.pins_nodes = false;
  assert_true(world.plan({{"0", "m2"}}).empty());
}

void pins_last_until_the_node_is_scaled_in(void**) {
  World world;
  const Pins before{{"0", "m0"}, {"1", "m1"}};
  assert_true(world.plan(before) == before);
  world.nodes.clear();  // slurmctld has lost them: they are made again
  assert_true(world.plan(before) == before);
  world.nodeset.replicas = 1;
  assert_true(world.plan(before) == (Pins{{"0", "m0"}}));
  world.nodes.push_back(FakeSlurm::cloud_node("c-1"));  // which leaves, or has stayed instead of c-0
  assert_true(world.plan(before) == before);
}

void pins_last_until_the_kube_node_is_of_no_use(void**) {
  World world;
  const Pins before{{"0", "m0"}, {"1", "m1"}, {"x", "m1"}};
  world.kube_nodes.at("m1") = {.cordoned = true, .ready = false, .taints = {{"gone", "", "NoSchedule"}}};  // may pass
  assert_true(world.plan(before) == (Pins{{"0", "m0"}, {"1", "m1"}}));
  world.kube_nodes.erase("m1");
  assert_true(world.plan(before) == (Pins{{"0", "m0"}}));
  world.nodeset.pod_spec = *Json::parse(R"({"nodeSelector":{"disk":"ssd"}})");
  assert_true(world.plan(before).empty());
  assert_true(world.plan(before, false) == before);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_node_is_pinned_to_where_its_pod_is),
      SLURMK8S_TEST(pins_last_until_the_node_is_scaled_in),
      SLURMK8S_TEST(pins_last_until_the_kube_node_is_of_no_use),
  };
  return cmocka_run_group_tests_name("sidecar_pins", tests, nullptr, nullptr);
}
