// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/node_plan: which nodes are powered up, recycled, and exempt from suspends.
#include "sidecar/node_plan.hpp"

#include "nodeset/names.hpp"
#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/node_cluster.hpp"

namespace slurmk8s {
namespace {

void a_node_that_starts_for_no_job_is_powered_down(void**) {
  const std::set<std::string, std::less<>> unused{"c-0", "c-1", "c-2", "c-3", "c-4"};
  Cluster cluster;
  cluster.nodeset("c", 5).records("c", 0, 0, [](SlurmNode& node) { up(node), node.powering_up = true; });
  cluster.records("c", 1, 1, up).records("c", 2, 2, allocated).records("c", 3, 3);
  cluster.records("c", 4, 4, [](SlurmNode& node) { up(node), node.reserved = true; });
  assert_text(cluster.actions(), "");
  cluster.unused = &unused;
  assert_text(cluster.actions(), "power_down c-[0-1]");
  NodeSet always = nodeset_of("c", 5);
  always.scaling_mode = ScalingMode::always;
  cluster.nodeset(always);
  assert_true(cluster.actions().find("power_down") == std::string::npos);
}

// Node c-0 of scalingMode Always: what is done with it in each state.
void keeps_nodes_up(void**) {
  const struct {
    const char* name;
    Change change;
    const char* actions;
    bool ready;
  } cases[] = {
      {"powered down", [](SlurmNode&) {}, "power_up c-0", false},
      {"up", up, "", true},
      {"allocated", allocated, "", true},
      {"up, drained by an administrator", [](SlurmNode& n) { up(n), n.draining = true; }, "", true},
      {"asked up", [](SlurmNode& n) { n.power_up_asked = true; }, "", false},
      {"powering up", [](SlurmNode& n) { up(n), n.powering_up = true; }, "", false},
      {"powering down", [](SlurmNode& n) { up(n), n.powering_down = true; }, "", false},
      {"asked down", [](SlurmNode& n) { up(n), n.power_down_asked = true; }, "", false},
      {"asked down again", [](SlurmNode& n) { n.power_down_asked = true; }, "", false},
      {"powered down for a job that is being configured", [](SlurmNode& n) { n.base = Base::allocated; }, "", false},
      {"powered down, drained by an administrator", [](SlurmNode& n) { n.draining = true; }, "", false},
      {"powered down, drained by us", drained_by_us, "undrain c-0", false},
      {"protected", [](SlurmNode& n) { n.draining = true, n.reason = "slurm-k8s: protected: no image"; }, "", false},
      {"backing off", [](SlurmNode& n) { up(n), n.base = Base::down, n.reason = "slurm-k8s: no image"; }, "", false},
      {"given up", [](SlurmNode& n) { n.base = Base::down, n.reason = "ResumeTimeout reached"; }, "", false},
  };
  for (const auto& c : cases) {
    Cluster cluster = always(1, "c-0");
    cluster.records("c", 0, 0, c.change).pod("c-0");
    const std::string actions = cluster.actions();
    if (actions != c.actions) fail_msg("%s: \"%s\" instead of \"%s\"", c.name, actions.c_str(), c.actions);
    const std::string state = cluster.state("c");
    if (state != (c.ready ? "Ready/NodesMatch" : "-/PoweringUp")) fail_msg("%s: %s", c.name, state.c_str());
    cluster.nodeset("c", 1);
    if (cluster.actions().find("power_up") != std::string::npos) fail_msg("%s: powered up on demand", c.name);
  }
}

void powers_many_up_in_one_call(void**) {
  Cluster cluster = always(6, "");
  cluster.records("c", 0, 3).records("c", 4, 4, up);
  cluster.held = {"c-1", "c-4"};
  assert_text(cluster.actions(), "create c-5; exempt_from_suspend c-[0-4]; power_up c-[0,2-3]");
  cluster.nodes.push_back(cluster.nodes.back());
  cluster.nodes.back().name = "c-5";
  const NodePlan plan = cluster.plan();
  assert_text(plan.states.at("c").message, "c-[0-3] (4): not up yet, as its scalingMode wants them");
}

// Nodes that leave aren't powered up, and those of another size go down to be made again.
void lets_nodes_of_always_go(void**) {
  Cluster leaving = always(1, "c-[0-2]");
  leaving.exemptions.added("c", "c-[0-2]");
  leaving.records("c", 0, 0, up).records("c", 1, 1).records("c", 2, 2, up);
  assert_text(leaving.actions(), "delete c-1; power_down c-2; unexempt c-[1-2]");

  const Change small = [](SlurmNode& n) { n.cpus = 1; };
  Cluster resizing = always(4, "c");
  resizing.nodesets.at("c").spec->update.max_unavailable = 4;
  resizing.pod("c-1").pod("c-2");
  resizing.records("c", 0, 0, small)
      .records("c", 1, 1, [&](SlurmNode& n) { small(n), up(n); })
      .records("c", 2, 2, [&](SlurmNode& n) { small(n), allocated(n); })
      .records("c", 3, 3, [&](SlurmNode& n) { small(n), up(n), n.powering_up = true; });
  assert_text(resizing.actions(), "delete c-0; drain c-2; recycle c-1");
  resizing.nodesets.at("c").spec->update.max_unavailable = 2;  // c-0 and c-3 aren't up
  assert_text(resizing.actions(), "delete c-0");
}

void exempts_nodes_from_suspends(void**) {
  const struct {
    const char* exempt;
    const char* actions;
  } cases[] = {
      {"", "exempt_from_suspend c-[0-1]"},
      {"c-0", "exempt_from_suspend c-1"},
      {"c-[0-9]", ""},
      {"x,c", ""},
      {"ALL", ""},
      {"cc", "exempt_from_suspend c-[0-1]"},
      {"c-[0-9]:2", ""},  // slurmctld can't add to it
      {nullptr, ""},      // before Slurm 23.02
  };
  for (const auto& c : cases) {
    Cluster cluster = always(2, c.exempt);
    cluster.records("c", 0, 1, up);
    assert_text(cluster.actions(), c.actions);
  }
  // What is taken back is what we added, nothing else.
  Cluster cluster = always(2, "c-0");
  cluster.records("c", 0, 1, up);
  cluster.exemptions.added("c", "c-1");
  assert_text(cluster.actions(), "");
  cluster.nodeset("c", 2);
  assert_text(cluster.actions(), "unexempt c-1");
  cluster.nodesets.clear();
  assert_text(cluster.actions(), "power_down c-[0-1]; unexempt c-1");
}

// A node on a cordoned Kubernetes node is left to what is done for the Kubernetes node; what leaves isn't updated.
void updates_what_stays(void**) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", 4);
  nodeset.template_hash = "1-new";
  nodeset.update.max_unavailable = 4;
  cluster.nodeset(nodeset).records("c", 0, 1, allocated).records("c", 2, 2, up).records("c", 3, 3, allocated);
  for (int i = 0; i < 4; i++) cluster.pod(node_name("c", i, 0)).pods[node_name("c", i, 0)].template_hash = "1-old";
  cluster.kube_nodes = {{"m0", {.cordoned = true}}};
  cluster.pods["c-1"].kube_node = "m0";
  assert_text(cluster.actions(), "drain c-1; drain c-[0,3]; recycle c-2");
  const NodePlan plan = cluster.plan();
  assert_text(plan.actions[0].reason, "slurm-k8s: kubernetes node m0 is cordoned");
  assert_text(plan.actions[1].reason, "slurm-k8s: update of the template");
  assert_text(plan.actions[2].reason, "slurm-k8s: update of the template");
  assert_text(plan.states.at("c").roll_out.reason, "WaitingForJobs");
  assert_int_equal(plan.states.at("c").roll_out.updated, 0);

  nodeset.replicas = 0;
  cluster.nodeset(nodeset);
  assert_text(cluster.actions(), "drain c-[0-1,3]; power_down c-2");
  assert_text(cluster.plan().actions[0].reason, kReasonScaleIn);
}

// What the last plan knew of the template is handed on, and what the status said when there is no last plan.
void goes_on_with_a_roll_out(void**) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", 1);
  nodeset.template_hash = "1-new";
  cluster.nodeset(nodeset).records("c", 0, 0, up).pod("c-0").pods["c-0"].template_hash = "1-old";
  assert_text(cluster.actions(), "recycle c-0");
  cluster.nodesets.at("c").stopped_template = "1-new";
  assert_text(cluster.actions(), "");
  NodeSetStates before;
  before["c"].roll_out.template_hash = "1-new";
  cluster.before = &before;
  assert_text(cluster.actions(), "recycle c-0");
  before["c"].roll_out.stopped = true;
  assert_text(cluster.actions(), "");
}

void tells_failed_power_ups(void**) {
  Cluster cluster;
  cluster.nodeset("c", 5)
      .records("c", 0, 0, [](SlurmNode& n) { up(n), n.base = Base::down, n.reason = "slurm-k8s: no room"; })
      .records("c", 1, 1, [](SlurmNode& n) { n.base = Base::down, n.reason = "ResumeTimeout reached [slurm@now]"; })
      .records("c", 2, 2, [](SlurmNode& n) { up(n), n.base = Base::down, n.reason = "broken disk"; })
      .records("c", 3, 3, [](SlurmNode& n) { n.reason = "slurm-k8s: no room"; })  // of long ago
      .records("c", 4, 4);
  const PowerUpFailures some = cluster.plan().states.at("c").failures;
  assert_text(compress_hostlist(some.nodes), "c-[0-1]");
  assert_text(some.cause, "no room");
  assert_false(some.is_protected);

  Cluster protected_one;
  protected_one.nodeset("c", 1).records(
      "c", 0, 0, [](SlurmNode& n) { n.draining = true, n.reason = "slurm-k8s: protected: no room"; });
  const PowerUpFailures all = protected_one.plan().states.at("c").failures;
  assert_int_equal(all.nodes.size(), 0);
  assert_text(all.cause, "no room");
  assert_true(all.is_protected);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_node_that_starts_for_no_job_is_powered_down),
      SLURMK8S_TEST(keeps_nodes_up),
      SLURMK8S_TEST(powers_many_up_in_one_call),
      SLURMK8S_TEST(lets_nodes_of_always_go),
      SLURMK8S_TEST(exempts_nodes_from_suspends),
      SLURMK8S_TEST(updates_what_stays),
      SLURMK8S_TEST(goes_on_with_a_roll_out),
      SLURMK8S_TEST(tells_failed_power_ups),
  };
  return cmocka_run_group_tests_name("sidecar_node_plan_up", tests, nullptr, nullptr);
}
