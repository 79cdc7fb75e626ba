// SPDX-License-Identifier: GPL-2.0-or-later
// R6: sidecar/node_plan: nodes that follow Kubernetes nodes, and scalingMode DaemonSet.
#include "sidecar/node_plan.hpp"

#include <functional>
#include <tuple>
#include <utility>

#include "nodeset/names.hpp"
#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/node_cluster.hpp"

namespace slurmk8s {
namespace {

// The pods of c-0 to c-3 are on two cordoned Kubernetes nodes, that of c-4 on a good one.
void empties_cordoned_kube_nodes(void**) {
  Cluster cluster;
  cluster.nodeset("c", 5).records("c", 0, 2, allocated).records("c", 3, 3, up).records("c", 4, 4, allocated);
  cluster.kube_nodes = {{"m0", {.cordoned = true}}, {"m1", {.cordoned = true}}, {"m2", {}}};
  const char* kube_nodes[] = {"m0", "m0", "m1", "m1", "m2"};
  for (int i = 0; i < 5; i++) cluster.pod(node_name("c", i, 0)).pods[node_name("c", i, 0)].kube_node = kube_nodes[i];
  assert_text(cluster.actions(), "drain c-[0-1]; drain c-2; power_down c-3");
  assert_text(cluster.plan().actions[0].reason, "slurm-k8s: kubernetes node m0 is cordoned");
  assert_text(cluster.plan().actions[1].reason, "slurm-k8s: kubernetes node m1 is cordoned");

  cluster.nodesets.clear();
  assert_text(cluster.nodeset("c", 0).actions(), "drain c-[0-2,4]; power_down c-3");  // they leave, that comes first
  assert_text(cluster.plan().actions[0].reason, kReasonScaleIn);
}

/** A NodeSet "c" of scalingMode DaemonSet, Kubernetes nodes m1, m2.x and m3, and these records. */
Cluster daemon_set(const std::vector<std::string>& records, const Change& change = {},
                   ScalingMode mode = ScalingMode::daemon_set) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", 1);
  nodeset.scaling_mode = mode;
  cluster.nodeset(nodeset);
  cluster.kube_nodes = {{"m1", {}}, {"m2.x", {}}, {"m3", {.labels = {{"gpu", "yes"}}}}};
  for (const std::string& name : records) {
    cluster.records("c", 0, 0, change);
    cluster.nodes.back().name = name;
  }
  return cluster;
}

const std::vector<std::string> kAllDaemonNodes{"c-m1", "c-m2--x", "c-m3"};

/** The same with scalingMode External. */
Cluster externals(const std::vector<std::string>& records, const Change& change = {}) {
  const auto as_external = [&](SlurmNode& node) {
    up(node), node.cloud = false, node.external = true;
    if (change) change(node);
  };
  Cluster cluster = daemon_set(records, as_external, ScalingMode::external);
  cluster.exemptions.update({.suspend_exc_nodes = "c-[m1,m3],c-m2--x"});
  constexpr Resources kFree{2000, 936 << 20};
  cluster.left = {{"m1", kFree}, {"m2.x", kFree}, {"m3", kFree}};
  return cluster;
}

// Those of one size are made together.
void external_nodes_have_what_is_left(void**) {
  Cluster cluster = externals({});
  cluster.left->at("m2.x") = {1999, std::int64_t{4096} << 20};
  assert_text(cluster.actions(), "create c-m2--x; create c-m[1,3]");
  assert_text(cluster.plan().actions[0].line, "NodeName=c-m2--x State=EXTERNAL Feature=c CPUs=1 RealMemory=936");
  assert_text(cluster.plan().actions[1].line, "NodeName=c-m[1,3] State=EXTERNAL Feature=c CPUs=2 RealMemory=936");
  cluster.left->at("m1").cpu_milli = 999;
  assert_text(cluster.actions(), "create c-m2--x; create c-m3");
  assert_text(cluster.state("c"), "-/InsufficientResources");
  assert_contains(cluster.plan().states.at("c").message, "c-m1 (1): other pods leave less than 1 CPU or 1 MiB");
  assert_int_equal(cluster.plan().states.at("c").desired, 2);
}

void external_nodes_are_resized_when_idle(void**) {
  for (const Resources left : {Resources{1000, 936 << 20}, {2000, 900 << 20}, {}}) {
    Cluster idle = externals(kAllDaemonNodes);
    idle.left->at("m3") = left;
    assert_text(idle.actions(), "delete c-m3");
    assert_text(idle.state("c"), "-/Resizing");
    Cluster busy = externals(kAllDaemonNodes, allocated);
    busy.left->at("m3") = left;
    assert_text(busy.actions(), "");
    assert_text(busy.state("c"), "-/Resizing");
  }
  Cluster larger = externals(kAllDaemonNodes);
  larger.left->at("m3") = {8000, 936 << 20};  // more than the limits
  assert_text(larger.actions(), "");
  larger.nodesets.at("c").spec->size.cpus = 8;
  assert_text(larger.actions(), "delete c-m3");
}

void external_nodes_stay_while_pods_are_unknown(void**) {
  Cluster cluster = externals({"c-m1", "c-m3"}, [](SlurmNode& node) { node.cpus = 64; });
  cluster.left.reset();
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/PodsUnknown");
  assert_contains(cluster.plan().states.at("c").message, "are being listed");
  assert_int_equal(cluster.plan().states.at("c").desired, 2);
  cluster.pods_error = "pods is forbidden";
  assert_text(cluster.state("c"), "-/PodsUnknown");
  assert_contains(cluster.plan().states.at("c").message, "be able to list and watch: pods is forbidden");

  Cluster later = externals(kAllDaemonNodes);  // the right is gone after the first list
  later.pods_error = "pods is forbidden";
  assert_text(later.state("c"), "-/PodsUnknown");
  later.kube_nodes.erase("m3");
  assert_text(later.actions(), "delete c-m3");
  later.has_external_nodes = false;
  assert_text(later.state("c"), "-/ExternalNodesUnknown");
}

void external_nodes_have_no_pods(void**) {
  Cluster cluster = externals({});
  assert_text(cluster.actions(), "create c-m[1,3],c-m2--x");
  assert_text(cluster.plan().actions[0].line,
              "NodeName=c-m[1,3],c-m2--x State=EXTERNAL Feature=c CPUs=2 RealMemory=936");
  cluster.has_external_nodes = false;
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/ExternalNodesUnknown");

  Cluster all = externals(kAllDaemonNodes);
  assert_text(all.actions(), "");
  assert_text(all.state("c"), "Ready/NodesMatch");
  all.exemptions.update({.suspend_exc_nodes = ""});
  assert_text(all.actions(), "exempt_from_suspend c-m[1,3],c-m2--x");
}

void external_nodes_follow_kube_nodes(void**) {
  Cluster idle = externals(kAllDaemonNodes);
  idle.kube_nodes.erase("m3");
  assert_text(idle.actions(), "delete c-m3");
  Cluster busy = externals(kAllDaemonNodes, allocated);
  busy.kube_nodes.at("m3").cordoned = true;
  assert_text(busy.actions(), "drain c-m3");
  Cluster silent = externals(kAllDaemonNodes, allocated);
  silent.kube_nodes.at("m1") = {.ready = false, .why_not_ready = "KubeletSilent"};
  assert_text(silent.actions(), "drain c-m1");
  silent = externals(kAllDaemonNodes);
  silent.kube_nodes.at("m1") = {.ready = false, .why_not_ready = "KubeletSilent"};
  assert_text(silent.actions(), "delete c-m1");
}

// It was powered down before it was exempt. Powered up, it would wait for a slurmd for ever.
void external_nodes_are_never_powered_up(void**) {
  const auto going = [](SlurmNode& node) { node.powering_down = true; };
  const auto off = [](SlurmNode& node) { node.powered_down = true; };
  const auto reserved = [](SlurmNode& node) { node.powered_down = node.reserved = true; };
  assert_text(externals(kAllDaemonNodes, going).actions(), "");
  assert_text(externals(kAllDaemonNodes, off).actions(), "delete c-m[1,3],c-m2--x");
  assert_text(externals(kAllDaemonNodes, reserved).actions(), "");
}

void makes_a_node_for_each_kube_node(void**) {
  Cluster cluster = daemon_set({});
  assert_text(cluster.actions(), "create c-m[1,3],c-m2--x");
  assert_text(cluster.plan().actions[0].line, "NodeName=c-m[1,3],c-m2--x State=CLOUD Feature=c CPUs=2 RealMemory=936");
  assert_int_equal(cluster.plan().states.at("c").desired, 3);
  cluster.kube_nodes.at("m1").ready = false;  // it has just joined: its node is made when a pod can run there
  assert_text(cluster.actions(), "create c-m2--x,c-m3");
  assert_text(daemon_set(kAllDaemonNodes).actions(), "power_up c-m[1,3],c-m2--x");
  const Cluster all = daemon_set(kAllDaemonNodes, up);
  assert_text(all.actions(), "");
  assert_text(all.state("c"), "Ready/NodesMatch");
}

// The node of m3, which isn't one of the NodeSet's any more for each of these reasons, and comes back.
void follows_kube_nodes(void**) {
  const std::function<void(Cluster&)> changes[] = {
      [](Cluster& c) { c.kube_nodes.erase("m3"); },
      [](Cluster& c) { c.kube_nodes.at("m3").cordoned = true; },
      [](Cluster& c) {
        c.kube_nodes.at("m3").taints = {{"gone", "", "NoExecute"}};
      },
      [](Cluster& c) {
        c.nodesets.at("c").spec->pod_spec = *Json::parse(
            R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
            {"matchExpressions":[{"key":"gpu","operator":"DoesNotExist"}]}]}}}})");
      },
  };
  for (const auto& change : changes) {
    Cluster busy = daemon_set(kAllDaemonNodes, allocated);
    change(busy);
    assert_text(busy.actions(), "drain c-m3");
    assert_text(busy.plan().actions[0].reason, kReasonScaleIn);
    assert_text(busy.state("c"), "-/ScalingIn");
    assert_int_equal(busy.plan().states.at("c").desired, 2);
    Cluster idle = daemon_set(kAllDaemonNodes, up);
    change(idle);
    assert_text(idle.actions(), "power_down c-m3");
    idle.nodes.back().powered_down = true;
    assert_text(idle.actions(), "delete c-m3");
  }
  Cluster back = daemon_set(kAllDaemonNodes, allocated);
  drained_by_us(back.nodes.back());
  assert_text(back.actions(), "undrain c-m3");
}

// Its pod can't come up any more; on a cordoned Kubernetes node it may have been placed before.
void does_not_wait_for_a_node_whose_kube_node_went(void**) {
  const auto starting = [](SlurmNode& node) { up(node), node.powering_up = true; };
  Cluster cluster = daemon_set(kAllDaemonNodes, starting);
  cluster.kube_nodes.at("m3").cordoned = true;
  assert_text(cluster.actions(), "");
  cluster.kube_nodes.erase("m3");
  assert_text(cluster.actions(), "force_power_down c-m3");
  assert_text(cluster.plan().actions[0].reason, "slurm-k8s: kubernetes node m3 is gone");
  cluster.nodes.back().power_down_asked = true;
  cluster.nodes.back().powering_up = false;
  assert_text(cluster.actions(), "drain c-m3");  // as at any scale-in
}

void does_not_power_up_on_a_silent_kube_node(void**) {
  Cluster cluster = daemon_set(kAllDaemonNodes, up);
  cluster.kube_nodes.at("m1") = {.ready = false, .why_not_ready = "KubeletSilent"};
  assert_text(cluster.actions(), "drain c-m1");  // as with any scalingMode
  cluster.nodes[0].powered_down = true;
  assert_text(cluster.actions(), "delete c-m1");
  assert_true(cluster.plan().states.at("c").chosen.contains("c-m1"));  // its claims stay
  cluster.kube_nodes.at("m1").ready = true;
  assert_text(cluster.actions(), "power_up c-m1");
}

void leaves_a_daemon_set_alone_without_kube_nodes(void**) {
  const Cluster cluster = daemon_set({"c-m1", "c-gone"}, up);
  const NodePlan plan =
      plan_nodes({cluster.nodesets, cluster.nodes, cluster.pods, 4096, cluster.exemptions, cluster.held});
  assert_int_equal(plan.actions.size(), 0);
  assert_text(plan.states.at("c").reason, "KubernetesNodesUnknown");
  assert_int_equal(plan.states.at("c").desired, 2);
}

void reports_names_of_kube_nodes_that_are_too_long(void**) {
  Cluster cluster = daemon_set({});
  cluster.kube_nodes.emplace("m4." + std::string(60, 'x'), KubeNodeFacts{});
  assert_text(cluster.actions(), "create c-m[1,3],c-m2--x");
  assert_text(cluster.state("c"), "-/NameTooLong");
  assert_contains(cluster.plan().states.at("c").message, "c-m4--x");

  // Of NodeSet c-m2, which the engine takes it for.
  Cluster similar = daemon_set({"c-m1", "c-m3"}, up);
  similar.kube_nodes = {{"m1", {}}, {"m3", {}}, {"m2-0", {}}};
  assert_text(similar.actions(), "create c-m2-0");
  similar.nodeset("c-m2", 0);
  assert_text(similar.actions(), "");
  assert_text(similar.state("c"), "-/NameTaken");

  Cluster taken = daemon_set({"c-m1", "c-m3"}, up);
  taken.records("x", 0, 0, [](SlurmNode& n) { n.name = "c-m2--x", n.features = "c", n.cloud = false; });
  assert_text(taken.actions(), "");
  assert_text(taken.state("c"), "-/NameTaken");
}

void keeps_daemon_sets_and_others_apart(void**) {
  // Not made for the NodeSet, whose name it has by chance; made for one that is gone; not named after its feature.
  Cluster cluster = daemon_set(kAllDaemonNodes, up);
  for (const auto& record :
       {std::pair("c-mine", "other"), {"c-7", "other"}, {"gone-m1", "x,gone"}, {"other-m1", "theirs"}}) {
    cluster.records("x", 0, 0, [&](SlurmNode& n) { std::tie(n.name, n.features) = record; });
  }
  assert_text(cluster.actions(), "delete gone-m1");
  // The NodeSet was deleted and made again with another scalingMode.
  cluster.nodesets.clear();
  cluster.nodeset("c", 1);
  assert_text(cluster.actions(), "delete gone-m1; features c-7; power_down c-m[1,3],c-m2--x");  // c-7 is its one node
}

void exempts_daemon_sets_from_suspends(void**) {
  Cluster cluster = daemon_set(kAllDaemonNodes, up);
  cluster.exemptions.update({.suspend_exc_nodes = ""});
  assert_text(cluster.actions(), "exempt_from_suspend c-m[1,3],c-m2--x");
  cluster.exemptions.added("c", "c-m[1,3],c-m2--x");
  assert_text(cluster.actions(), "");
  cluster.kube_nodes.erase("m3");
  assert_text(cluster.actions(), "power_down c-m3; unexempt c-m3");
}

void does_not_power_up_what_waits_for_its_kube_node(void**) {
  Cluster cluster = always(2, "c-[0-1]");
  cluster.nodesets.at("c").spec->pins_nodes = true;
  cluster.records("c", 0, 1);
  cluster.kube_nodes = {{"m0", {.cordoned = true}}, {"m1", {}}};
  cluster.pins = {{"c", {{"0", "m0"}, {"1", "m1"}}}};
  assert_text(cluster.actions(), "power_up c-1; drain c-0");
  assert_true(cluster.plan().states.at("c").pins == cluster.pins.at("c"));
  cluster.nodes[0].draining = true;
  cluster.nodes[0].reason = "slurm-k8s: kubernetes node m0 is cordoned";
  cluster.kube_nodes.erase("m0");  // there is nothing to wait for any more
  assert_text(cluster.actions(), "undrain c-0; power_up c-1");
  assert_true(cluster.plan().states.at("c").pins == (Pins{{"1", "m1"}}));
  // A wrong spec says nothing about pins.
  cluster.nodesets.at("c").spec = Error(Errc::invalid, "spec");
  assert_true(cluster.plan().states.at("c").pins == cluster.pins.at("c"));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(empties_cordoned_kube_nodes),
      SLURMK8S_TEST(makes_a_node_for_each_kube_node),
      SLURMK8S_TEST(external_nodes_have_no_pods),
      SLURMK8S_TEST(external_nodes_have_what_is_left),
      SLURMK8S_TEST(external_nodes_are_resized_when_idle),
      SLURMK8S_TEST(external_nodes_stay_while_pods_are_unknown),
      SLURMK8S_TEST(external_nodes_follow_kube_nodes),
      SLURMK8S_TEST(external_nodes_are_never_powered_up),
      SLURMK8S_TEST(follows_kube_nodes),
      SLURMK8S_TEST(does_not_wait_for_a_node_whose_kube_node_went),
      SLURMK8S_TEST(does_not_power_up_on_a_silent_kube_node),
      SLURMK8S_TEST(leaves_a_daemon_set_alone_without_kube_nodes),
      SLURMK8S_TEST(reports_names_of_kube_nodes_that_are_too_long),
      SLURMK8S_TEST(keeps_daemon_sets_and_others_apart),
      SLURMK8S_TEST(exempts_daemon_sets_from_suspends),
      SLURMK8S_TEST(does_not_power_up_what_waits_for_its_kube_node),
  };
  return cmocka_run_group_tests_name("sidecar_node_plan_kube_nodes", tests, nullptr, nullptr);
}
