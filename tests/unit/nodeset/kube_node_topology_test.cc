// SPDX-License-Identifier: GPL-2.0-or-later
// nodeset/kube_node_topology: what annotations give, and to which records.
#include "nodeset/kube_node_topology.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void reads_the_annotation(void**) {
  const std::pair<const char*, const char*> cases[] = {
      {"null", ""},
      {R"({"other":"a"})", ""},
      {R"({"slurm-k8s.io/topology":"default:rack1"})", "default:rack1"},
      {R"({"topology.slinky.slurm.net/spec":"topo-switch:s2,topo-block:b2"})", "topo-switch:s2,topo-block:b2"},
      {R"({"topology.slinky.slurm.net/spec":"t:theirs","slurm-k8s.io/topology":"t:ours"})", "t:ours"},
      {R"({"topology.slinky.slurm.net/spec":"t:theirs","slurm-k8s.io/topology":""})", ""},
  };
  for (const auto& [annotations, topology] : cases) {
    assert_text(decode_kube_node_topology(*Json::parse(annotations)), topology);
  }
}

void only_another_one_is_set(void**) {
  SlurmNode node;
  assert_false(needs_topology(node, "t:a"));  // a Slurm that can't
  node.topology = "t:b";
  assert_true(needs_topology(node, "t:a"));
  assert_false(needs_topology(node, "t:b"));
  assert_false(needs_topology(node, ""));
  node.powering_down = true;
  assert_false(needs_topology(node, "t:a"));
  node.powering_down = false;
  node.powered_down = true;  // of a Kubernetes node of its own
  assert_true(needs_topology(node, "t:a"));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(reads_the_annotation), SLURMK8S_TEST(only_another_one_is_set)};
  return cmocka_run_group_tests_name("nodeset_kube_node_topology", tests, nullptr, nullptr);
}
