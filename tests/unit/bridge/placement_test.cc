// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/placement: ranks, and the nodes that have them.
#include "bridge/placement.hpp"

#include <string>

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void natural_order(void**) {
  const std::vector<std::string> in_order = {"", "a", "a0", "a01", "a1", "a2", "a10", "a10b", "b1c9", "b1c10", "c"};
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (std::size_t j = 0; j < in_order.size(); ++j) {
      assert_int_equal(is_before_naturally(in_order[i], in_order[j]), i < j);
    }
  }
}

/** "p1:n1 p2:n1 p3:" */
std::string placed(std::vector<WorkloadPod> pods, std::vector<AllocatedNode> nodes, std::uint32_t cpus,
                   std::uint32_t gpus = 0, const NodeTopologies& topologies = {}, std::uint32_t per_node = 0,
                   std::uint64_t memory_mib = 0) {
  std::vector<const WorkloadPod*> views;
  for (const WorkloadPod& pod : pods) views.push_back(&pod);
  std::string text;
  std::uint32_t rank = 0;
  for (const PlacedPod& one : place_pods(views, std::move(nodes), {cpus, gpus, per_node, memory_mib}, topologies)) {
    assert_int_equal(one.rank, rank++);
    text += (text.empty() ? "" : " ") + one.pod->name + ":" + one.node;
  }
  return text;
}

WorkloadPod pod(const char* name, int rank = -1) {
  WorkloadPod one;
  one.name = name;
  one.rank = rank;
  return one;
}

void ranks_fill_nodes_in_order(void**) {
  assert_text(placed({pod("p10"), pod("p2"), pod("p1")}, {{"n10", 1}, {"n2", 2}}, 1), "p1:n2 p2:n2 p10:n10");
  assert_text(placed({pod("x", 2), pod("y", 0), pod("z", 1)}, {{"n1", 1}, {"n2", 1}, {"n3", 1}}, 1), "y:n1 z:n2 x:n3");
  assert_text(placed({pod("b"), pod("a"), pod("c", 5)}, {{"n1", 3}}, 1), "c:n1 a:n1 b:n1");
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 3}, {"n2", 2}}, 2), "a:n1 b:n2");
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 1}, {"n2", 2}}, 2), "a:n2 b:");
  // Of an exclusive job: CPUs for both pods, a GPU for one.
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 8, 1}, {"n2", 8, 3}}, 1, 1), "a:n1 b:n2");
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 8, 1}, {"n2", 8, 3}}, 1, 2), "a:n2 b:");
  // Its owner has made the job's memory less: one pod of 1024 MiB.
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 8, 0, 2047}}, 1, 0, {}, 0, 1024), "a:n1 b:");
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 8, 0, 1023}, {"n2", 8}}, 1, 0, {}, 0, 1024), "a:n2 b:n2");
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 8, 0, 1}}, 1), "a:n1 b:n1");
  assert_text(placed({pod("a")}, {}, 1), "a:");
  assert_text(placed({pod("a")}, {{"n1", 1}}, 0), "a:n1");
}

// An exclusive job has all CPUs of its nodes.
void no_node_stays_without_a_pod(void**) {
  assert_text(placed({pod("a"), pod("b")}, {{"n1", 8}, {"n2", 8}}, 1), "a:n1 b:n2");
  assert_text(placed({pod("a"), pod("b"), pod("c"), pod("d")}, {{"n1", 8}, {"n2", 8}}, 1), "a:n1 b:n1 c:n1 d:n2");
  assert_text(placed({pod("a"), pod("b"), pod("c"), pod("d")}, {{"n1", 8}, {"n2", 8}}, 1, 0, {}, 2),
              "a:n1 b:n1 c:n2 d:n2");
  assert_text(placed({pod("a"), pod("b"), pod("c")}, {{"n1", 8}, {"n2", 8}}, 1, 0, {}, 1), "a:n1 b:n2 c:");
  assert_text(placed({pod("a")}, {{"n1", 8}, {"n2", 8}}, 1), "a:n1");
}

void nodes_of_one_topology_are_neighbours(void**) {
  const std::vector<WorkloadPod> pods = {pod("a"), pod("b"), pod("c"), pod("d"), pod("e")};
  const std::vector<AllocatedNode> nodes = {{"n1", 1}, {"n2", 1}, {"n3", 1}, {"n4", 1}, {"n5", 1}};
  const NodeTopologies racks = {
      {"n1", "default:rack10"}, {"n2", "default:rack2"}, {"n4", "default:rack10"}, {"n5", "default:rack2"}};
  assert_text(placed(pods, nodes, 1, 0, racks), "a:n2 b:n5 c:n1 d:n4 e:n3");
  assert_text(placed(pods, nodes, 1, 0, {{"other", "default:rack1"}}), "a:n1 b:n2 c:n3 d:n4 e:n5");
}

// B3: neither the names of the nodes nor the letters of the racks have that order.
void ranks_follow_four_racks(void**) {
  const std::vector<WorkloadPod> pods = {pod("a", 0), pod("b", 1), pod("c", 2), pod("d", 3),
                                         pod("e", 4), pod("f", 5), pod("g", 6), pod("h", 7)};
  const std::vector<AllocatedNode> nodes = {{"n1", 1}, {"n2", 1}, {"n3", 1}, {"n4", 1},
                                            {"n5", 1}, {"n6", 1}, {"n7", 1}, {"n8", 1}};
  const NodeTopologies racks = {{"n1", "default:rack10"}, {"n2", "default:rack1"},  {"n3", "default:rack3"},
                                {"n4", "default:rack2"},  {"n5", "default:rack10"}, {"n6", "default:rack1"},
                                {"n7", "default:rack3"},  {"n8", "default:rack2"}};
  assert_text(placed(pods, nodes, 1, 0, racks), "a:n2 b:n6 c:n4 d:n8 e:n3 f:n7 g:n1 h:n5");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(natural_order), SLURMK8S_TEST(ranks_fill_nodes_in_order),
                              SLURMK8S_TEST(no_node_stays_without_a_pod),
                              SLURMK8S_TEST(nodes_of_one_topology_are_neighbours),
                              SLURMK8S_TEST(ranks_follow_four_racks)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
