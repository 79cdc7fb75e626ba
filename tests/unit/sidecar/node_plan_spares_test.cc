// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/node_plan with spec.spareReplicas: what is powered up, and what may be suspended.
#include "sidecar/node_plan.hpp"

#include "support/cmocka.hpp"
#include "support/node_cluster.hpp"

namespace slurmk8s {
namespace {

void starting(SlurmNode& node) { up(node), node.powering_up = true; }

/** A NodeSet "c" of `replicas` nodes, `spares` of them spare. */
Cluster with_spares(std::int64_t replicas, std::int64_t spares, const char* exempt = "") {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", replicas);
  if (spares != 0) nodeset.spare_replicas = {{"", spares}};
  cluster.nodeset(nodeset);
  cluster.exemptions.update({.suspend_exc_nodes = exempt ? std::optional<std::string>(exempt) : std::nullopt});
  return cluster;
}

SpareCounts spares_of(const char* nodeset, std::int64_t count, const char* problem = "") {
  SpareCount spares;
  if (count != 0) spares.replicas.emplace("", count);
  spares.problem = problem;
  return {{nodeset, spares}};
}

void powers_spares_up(void**) {
  Cluster cluster = with_spares(4, 2);
  cluster.records("c", 0, 3);
  assert_text(cluster.actions(), "exempt_from_suspend c-[0-1]; power_up c-[0-1]");
  assert_text(cluster.state("c"), "Ready/NodesMatch");
  cluster.held = {"c-0"};
  assert_text(cluster.actions(), "exempt_from_suspend c-[1-2]; power_up c-[1-2]");
}

void follows_the_clock(void**) {
  Cluster cluster = with_spares(4, 1, "c-0");
  cluster.exemptions.added("c", "c-0");
  cluster.records("c", 0, 0, up).records("c", 1, 3);
  cluster.spares = spares_of("c", 3);
  assert_text(cluster.actions(), "exempt_from_suspend c-[1-2]; power_up c-[1-2]");
  cluster.spares = spares_of("c", 0);
  assert_text(cluster.actions(), "unexempt c-0");
  cluster.spares = spares_of("other", 3);
  assert_text(cluster.actions(), "");
  cluster.spares = spares_of("c", 1, "spec.spareSchedules[0].timeZone: Invalid value");
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/SparesNotKept");
}

/** NodeSet "c" of `replicas` nodes with variant v1, of which one node is spare, and another one without a variant. */
Cluster with_spare_variant(std::int64_t replicas) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", replicas);
  nodeset.variants = {{"v1", {}}};
  nodeset.features += ",v1";
  nodeset.spare_replicas = {{"", 1}, {"v1", 1}};
  cluster.nodeset(nodeset);
  cluster.exemptions.update({.suspend_exc_nodes = ""});
  return cluster;
}

void with_features(SlurmNode& node) { node.features = "c,v1", node.active_features = "c"; }

void powers_spares_up_as_a_variant(void**) {
  Cluster cluster = with_spare_variant(3);
  cluster.records("c", 0, 2, with_features);
  assert_text(cluster.actions(), "exempt_from_suspend c-[0-1]; power_up c-0; power_up c-1 active=c,v1");
  up(cluster.nodes[2]);
  cluster.nodes[2].active_features = "c,v1";
  assert_text(cluster.actions(), "exempt_from_suspend c-[0,2]; power_up c-0");
  cluster.has_node_features = false;  // no job could ask for the variant
  assert_text(cluster.actions(), "features c-[0-2]; exempt_from_suspend c-0; power_up c-0");
}

// From one step to the next, as Slurm would show it.
void follows_jobs(void**) {
  Cluster cluster = with_spares(4, 1, "c-0");
  cluster.exemptions.added("c", "c-0");
  cluster.records("c", 0, 0, up).records("c", 1, 3);
  assert_text(cluster.actions(), "");  // nothing happens: nothing is written
  allocated(cluster.nodes[0]);
  assert_text(cluster.actions(),
              "exempt_from_suspend c-1; power_up c-1");  // c-0 stays exempt: its job may be over soon
  cluster.exemptions.added("c", "c-1");
  starting(cluster.nodes[1]);
  assert_text(cluster.actions(), "");
  up(cluster.nodes[1]), cluster.nodes[1].powering_up = false;
  cluster.nodes[0].base = SlurmNode::Base::idle;
  assert_text(cluster.actions(), "unexempt c-1");  // one too many: Slurm suspends it after SuspendTime
  cluster.exemptions.removed("c-1");
  assert_text(cluster.actions(), "");
}

void all_are_in_use(void**) {
  Cluster cluster = with_spares(2, 2);
  cluster.records("c", 0, 1, allocated);
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "Ready/NodesMatch");
}

void a_cancelled_start_may_become_a_spare(void**) {
  const std::set<std::string, std::less<>> unused = {"c-0", "c-1"};
  Cluster cluster = with_spares(3, 1);
  cluster.unused = &unused;
  cluster.records("c", 0, 1, starting).records("c", 2, 2);
  assert_text(cluster.actions(), "exempt_from_suspend c-0; power_down c-1");
}

void leaves_a_node_to_the_job_that_waits_for_it(void**) {
  VariantDemand demand;
  demand.reserved = {"c-0"};
  Cluster cluster = with_spares(2, 1);
  cluster.demand = &demand;
  cluster.records("c", 0, 1);
  assert_text(cluster.actions(), "exempt_from_suspend c-1; power_up c-1");
}

void nodes_that_leave_are_no_spares(void**) {
  Cluster cluster = with_spares(2, 2, "c-2");
  cluster.exemptions.added("c", "c-2");
  cluster.records("c", 0, 1).records("c", 2, 2, up);
  assert_text(cluster.actions(), "delete c-1; exempt_from_suspend c-0; power_up c-0");
}

void spares_end_with_the_field(void**) {
  Cluster cluster = with_spares(2, 0, "c-0");
  cluster.exemptions.added("c", "c-0");
  cluster.records("c", 0, 0, allocated).records("c", 1, 1);
  assert_text(cluster.actions(), "unexempt c-0");
}

void says_when_slurm_cannot_keep_them(void**) {
  for (const char* exempt : {static_cast<const char*>(nullptr), "c-[0-1]:1"}) {
    Cluster cluster = with_spares(2, 1, exempt);
    cluster.records("c", 0, 1);
    assert_text(cluster.actions(), "");
    assert_text(cluster.state("c"), "-/SparesNotKept");
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(powers_spares_up),
      SLURMK8S_TEST(follows_the_clock),
      SLURMK8S_TEST(powers_spares_up_as_a_variant),
      SLURMK8S_TEST(follows_jobs),
      SLURMK8S_TEST(all_are_in_use),
      SLURMK8S_TEST(a_cancelled_start_may_become_a_spare),
      SLURMK8S_TEST(leaves_a_node_to_the_job_that_waits_for_it),
      SLURMK8S_TEST(nodes_that_leave_are_no_spares),
      SLURMK8S_TEST(spares_end_with_the_field),
      SLURMK8S_TEST(says_when_slurm_cannot_keep_them),
  };
  return cmocka_run_group_tests_name("sidecar_node_plan_spares", tests, nullptr, nullptr);
}
