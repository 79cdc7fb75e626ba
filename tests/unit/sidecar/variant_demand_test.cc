// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/variant_demand: which idle nodes are powered down for a job that waits for another variant.
#include "sidecar/variant_demand.hpp"

#include <functional>

#include "slurm/hostlist.hpp"
#include "nodeset/names.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;

struct World {
  NodeSets nodesets;
  std::vector<SlurmNode> nodes;
  std::vector<SlurmJob> jobs;

  World() {
    NodeSet nodeset;
    nodeset.name = "g";
    nodeset.features = "g,v1,v2";
    nodeset.variants["v1"];
    nodeset.variants["v2"];
    nodesets.insert_or_assign("g", KnownNodeSet{1, nodeset});
  }

  /** g-N, up and idle with a variant, or powered down. */
  World& node(const char* variant, const std::function<void(SlurmNode&)>& change = {}) {
    SlurmNode node = FakeSlurm::cloud_node(node_name("g", std::ssize(nodes), 0));
    node.features = "g,v1,v2";
    node.active_features = *variant ? std::string("g,") + variant : "g";
    node.powered_down = std::string_view(variant) == "-";
    if (change) change(node);
    nodes.push_back(node);
    return *this;
  }
  World& job(const char* features, std::uint32_t count = 1, const char* allowed = "other-[0-3],g-[0-9]") {
    jobs.push_back({.id = 1, .features = features, .nodes = count, .waits = true, .partition_nodes = allowed});
    return *this;
  }
  std::string recycled() const { return names(find_variant_demand(nodesets, nodes, jobs).recycle); }
  std::string reserved() const { return names(find_variant_demand(nodesets, nodes, jobs).reserved); }

 private:
  static std::string names(const std::set<std::string, std::less<>>& set) {
    return compress_hostlist({set.begin(), set.end()});
  }
};

void recycles_as_many_as_are_missing(void**) {
  assert_text(World().node("").node("v1").job("v2").recycled(), "g-0");
  assert_text(World().node("").node("v1").job("v2", 2).recycled(), "g-[0-1]");
  assert_text(World().node("").node("v2").job("v2", 2).recycled(), "g-0");
  assert_text(World().node("").node("-").job("v2", 2).recycled(), "g-0");
  assert_text(World().node("v1").job("g&v2").recycled(), "g-0");
  // One that is on its way down comes back for it.
  assert_text(World().node("", [](SlurmNode& n) { n.powering_down = true; }).node("v1").job("v2").recycled(), "");
}

void recycles_none_in_vain(void**) {
  assert_text(World().node("").job("v2", 2).recycled(), "");          // not enough
  assert_text(World().node("v2").node("").job("v2").recycled(), "");  // there is one
  assert_text(World().node("-").node("").job("v2").recycled(), "");
  assert_text(World().node("").job("g").recycled(), "");     // no variant
  assert_text(World().node("").job("g|v2").recycled(), "");  // any node would do
  assert_text(World().node("").job("v2*1").recycled(), "");
  assert_text(World().node("").job("nothing&v2").recycled(), "");
  assert_text(World().node("").job("v2", 1, "g-1").recycled(), "");
  assert_text(World().node("").job("v2", 1, "").recycled(), "");
  const std::function<void(SlurmNode&)> unfit[] = {
      [](SlurmNode& n) { n.base = Base::allocated; }, [](SlurmNode& n) { n.base = Base::mixed; },
      [](SlurmNode& n) { n.completing = true; },      [](SlurmNode& n) { n.draining = true; },
      [](SlurmNode& n) { n.powering_up = true; },     [](SlurmNode& n) { n.reserved = true; },
      [](SlurmNode& n) { n.base = Base::down; },      [](SlurmNode& n) { n.cloud = false; },
      [](SlurmNode& n) { n.features = "g,v1"; }};
  for (const auto& change : unfit) assert_text(World().node("", change).job("v2").recycled(), "");
}

void jobs_share_no_node(void**) {
  assert_text(World().node("").node("").node("").job("v2").job("v1").recycled(), "g-[0-1]");
  assert_text(World().node("").job("v2").job("v1").recycled(), "g-0");
  assert_text(World().node("v1").node("").job("v1").job("v2").recycled(), "g-1");
}

void takes_the_first_alternative_that_can_be(void**) {
  World world;
  world.node("").node("v1").job("v2|v1", 2);
  assert_text(world.recycled(), "g-[0-1]");
  assert_text(World().node("", [](SlurmNode& n) { n.features = "g,v1"; }).job("v2|v1").recycled(), "g-0");
}

void keeps_what_is_powered_down_for_its_job(void**) {
  assert_text(World().node("-").node("-").job("v2").reserved(), "g-0");
  assert_text(World().node("", [](SlurmNode& n) { n.powering_down = true; }).job("v2").reserved(), "g-0");
  assert_text(World().node("v2").node("-").job("v2").reserved(), "");
  assert_text(World().node("-").reserved(), "");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(recycles_as_many_as_are_missing),
      SLURMK8S_TEST(recycles_none_in_vain),
      SLURMK8S_TEST(jobs_share_no_node),
      SLURMK8S_TEST(takes_the_first_alternative_that_can_be),
      SLURMK8S_TEST(keeps_what_is_powered_down_for_its_job),
  };
  return cmocka_run_group_tests_name("sidecar_variant_demand", tests, nullptr, nullptr);
}
