// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/node_plan: what the records have: definition, size, features, topology, Reasons.
#include "sidecar/node_plan.hpp"

#include "nodeset/names.hpp"
#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"
#include "support/node_cluster.hpp"

namespace slurmk8s {
namespace {

void records_follow_extra_conf(void**) {
  NodeSet nodeset = nodeset_of("c", 4);
  nodeset.extra_conf = "CoreSpecCount=1 Weight=10";
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 1).records("c", 2, 2, up).records("c", 3, 3, allocated);
  cluster.nodes[3].weight = 10;
  assert_text(cluster.actions(), "delete c-[0-1]; set_weight c-2");
  assert_int_equal(*cluster.plan().actions[1].change.weight, 10);
  assert_text(cluster.state("c"), "-/Resizing");
  const NodePlan first = cluster.plan();
  cluster.before = &first.states;

  // slurmctld has taken another number for them: that isn't tried for ever, but with another extraConf once more.
  for (SlurmNode& node : cluster.nodes) node.weight = 10;
  for (int i = 2; i < 4; i++) cluster.nodes[i].core_spec_count = 1;
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/Corrected");
  assert_contains(cluster.plan().states.at("c").message, "c-[0-1] (2): slurmctld has them otherwise");
  nodeset.extra_conf = "CoreSpecCount=2 Weight=10";
  cluster.nodeset(nodeset);
  assert_text(cluster.actions(), "delete c-[0-1]");
}

// Slurm has Gres in words of its own: the status keeps which records were made with which.
void records_with_a_former_gres_are_made_again(void**) {
  NodeSet nodeset = nodeset_of("c", 3);
  nodeset.extra_conf = "Gres=foo:1 Weight=1";
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 1).records("c", 2, 2, allocated);
  NodePlan plan = cluster.plan();
  assert_true(plan.states.at("c").ready);
  cluster.before = &plan.states;

  nodeset.extra_conf = "Gres=foo:2 Weight=1";
  cluster.nodeset(nodeset);
  assert_text(cluster.actions(), "delete c-[0-1]");
  assert_text(cluster.state("c"), "-/Resizing");
  NodePlan second = cluster.plan();
  assert_true(second.states.at("c").records.outdated == std::set<std::string>({"c-0", "c-1", "c-2"}));
  // They are gone, and made with the new one: not once more. The busy one waits for its job.
  const SlurmNode busy = cluster.nodes[2];
  cluster.nodes = {busy};
  cluster.before = &second.states;
  assert_text(cluster.actions(), "create c-[0-1]");
  NodePlan third = cluster.plan();
  cluster.before = &third.states;
  cluster.records("c", 0, 1);
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/Resizing");
  // A sidecar that is restarted then has the status alone.
  cluster.before = nullptr;
  const Json status = Json::object().set("records", encode_records(third.states.at("c").records));
  assert_text(status["records"]["outdated"].text(), "c-2");
  cluster.nodesets.at("c").records = decode_records(status);
  assert_text(cluster.state("c"), "-/Resizing");
  cluster.nodes[0] = FakeSlurm::cloud_node("c-2");
  cluster.nodes[0].cpus = busy.cpus;
  cluster.nodes[0].real_memory_mib = busy.real_memory_mib;
  cluster.nodes[0].features = busy.features;
  assert_text(cluster.actions(), "delete c-2");
}

/** A change that is taken back: the records are still those that they were made as. */
void records_of_a_spec_that_is_as_before_are_right(void**) {
  NodeSet nodeset = nodeset_of("c", 3);
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 2, allocated);
  std::vector<NodePlan> plans;
  plans.reserve(3);
  const auto plan = [&](const char* extra_conf) {
    nodeset.extra_conf = extra_conf;
    cluster.nodeset(nodeset);
    plans.push_back(cluster.plan());
    cluster.before = &plans.back().states;
    return cluster.state("c");
  };
  assert_text(plan("Gres=foo:1"), "Ready/NodesMatch");
  assert_text(plan("Gres=foo:2"), "-/Resizing");
  assert_text(plan("Gres=foo:1"), "Ready/NodesMatch");
}

void a_parameter_that_is_removed_leaves_the_records(void**) {
  NodeSet nodeset = nodeset_of("c", 3);
  nodeset.extra_conf = "CoreSpecCount=1 Weight=10";
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 1).records("c", 2, 2, allocated);
  for (SlurmNode& node : cluster.nodes) node.weight = 10, node.core_spec_count = 1;
  const NodePlan first = cluster.plan();
  assert_true(first.states.at("c").ready);
  cluster.before = &first.states;
  nodeset.extra_conf = "";
  cluster.nodeset(nodeset);
  assert_text(cluster.actions(), "delete c-[0-1]; set_weight c-2");
  assert_int_equal(*cluster.plan().actions[1].change.weight, 1);
  assert_text(cluster.state("c"), "-/Resizing");
}

/** The weight is set until the record has it; afterwards it is the administrator's. */
void a_weight_that_is_removed_is_set_until_it_is_the_default(void**) {
  NodeSet nodeset = nodeset_of("c", 1);
  nodeset.extra_conf = "Weight=10";
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 0);
  NodeSetStates before;
  const auto actions = [&](std::uint64_t weight) {
    cluster.nodes[0].weight = weight;
    NodePlan plan = cluster.plan();
    before = std::move(plan.states);
    cluster.before = &before;
    std::string text;
    for (const NodeAction& action : plan.actions) text += to_string(action.kind);
    return text;
  };
  assert_text(actions(10), "");
  nodeset.extra_conf = "";
  cluster.nodeset(nodeset);
  assert_text(actions(10), "set_weight");
  assert_text(actions(10), "set_weight");  // slurmctld refused it, or did not answer
  assert_text(actions(1), "");
  assert_text(actions(5), "");
}

/** Features of the last valid spec are still ours. */
void an_invalid_spec_loses_no_feature(void**) {
  NodeSet nodeset = nodeset_of("c", 1);
  nodeset.features = "c,big";
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 0, [](SlurmNode& node) { node.features = "c,big"; });
  const NodePlan first = cluster.plan();
  cluster.before = &first.states;
  cluster.nodesets.at("c").spec = Error(Errc::invalid, "spec");
  const NodePlan second = cluster.plan();
  cluster.before = &second.states;
  assert_text(cluster.state("c"), "-/InvalidSpec");
  nodeset.features = "c";
  cluster.nodeset(nodeset);
  assert_text(cluster.actions(), "features c-0");
  assert_text(*cluster.plan().actions[0].change.features, "c");
}

void gres_that_slurm_ignores_are_not_ready(void**) {
  NodeSet nodeset = nodeset_of("c", 1);
  nodeset.gres_names = {"gpu"};
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 0);
  assert_text(cluster.state("c"), "Ready/NodesMatch");
  cluster.gres_types = "foo,gpux";
  assert_text(cluster.state("c"), "-/GresUnknown");
  assert_contains(cluster.plan().states.at("c").message, "Gres: slurm.conf's GresTypes has no gpu");
  cluster.gres_types = "foo,gpu";
  assert_text(cluster.state("c"), "Ready/NodesMatch");
}

// Pods of c-0 and c-1 are on m, that of c-2 on a Kubernetes node that gives nothing; c-3 was on m; c-4 leaves.
void nodes_have_the_features_of_their_kube_node(void**) {
  const auto had = [](SlurmNode& node) { node.features = "c,k8s/rack1"; };
  Cluster cluster;
  cluster.nodeset("c", 4).records("c", 0, 2, up).records("c", 3, 3, had);
  cluster.records("c", 4, 4, [&](SlurmNode& node) { had(node), allocated(node), drained_by_us(node); });
  cluster.kube_nodes = {{"m", {.features = {{"k8s/rack1", "k8s/ssd"}, ""}}}, {"plain", {}}};
  const char* kube_nodes[] = {"m", "m", "plain"};
  for (int i = 0; i < 3; i++) cluster.pod(node_name("c", i, 0)).pods[node_name("c", i, 0)].kube_node = kube_nodes[i];
  assert_text(cluster.actions(), "features c-3; features c-[0-1]");
  assert_text(*cluster.plan().actions[0].change.features, "c");
  assert_text(*cluster.plan().actions[1].change.features, "c,k8s/rack1,k8s/ssd");
  for (int i = 0; i < 2; i++) cluster.nodes[i].features = "c,k8s/ssd,k8s/rack1";
  cluster.nodes[3].features = "c";
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/ScalingIn");
}

// Pods of c-0 to c-3 are on m; c-1 has what m gives, c-2 is being powered down, c-3 is of a Slurm that can't change it.
void nodes_have_the_topology_of_their_kube_node(void**) {
  Cluster cluster;
  cluster.nodeset("c", 5).records("c", 0, 4, up);
  cluster.kube_nodes = {{"m", {.topology = "default:rack1"}}, {"plain", {}}};
  for (int i = 0; i < 5; i++) {
    const std::string name = node_name("c", i, 0);
    cluster.pod(name).pods[name].kube_node = i == 4 ? "plain" : "m";
    cluster.nodes[i].topology = "default:none";
  }
  cluster.nodes[1].topology = "default:rack1";
  cluster.nodes[2].power_down_asked = true;
  cluster.nodes[3].topology.reset();
  assert_text(cluster.actions(), "topology c-0");
  assert_text(*cluster.plan().actions[0].change.topology, "default:rack1");
  assert_false(cluster.plan().actions[0].change.features.has_value());
}

// Its record is there before its pod, and when it is powered down.
void a_node_goes_for_a_job_that_waits_for_its_variant(void**) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", 3);
  nodeset.scaling_mode = ScalingMode::always;
  cluster.nodeset(nodeset).records("c", 0, 1, up).records("c", 2, 2);
  VariantDemand demand{.recycle = {"c-0"}, .reserved = {"c-2"}};
  cluster.demand = &demand;
  assert_contains(cluster.actions(), "power_down c-0");
  assert_false(cluster.actions().find("power_up") != std::string::npos);
  demand.reserved.clear();
  assert_contains(cluster.actions(), "power_up c-2");
}

void a_node_that_belongs_to_a_kube_node_has_its_features_always(void**) {
  NodeSet nodeset = nodeset_of("ds", 1);
  nodeset.scaling_mode = ScalingMode::daemon_set;
  Cluster cluster;
  cluster.nodeset(nodeset).kube_nodes = {{"m", {.features = {{"k8s/rack1"}, ""}}}};
  cluster.nodes.push_back(FakeSlurm::cloud_node("ds-m"));
  cluster.nodes[0].cpus = 2;
  cluster.nodes[0].real_memory_mib = 936;
  cluster.nodes[0].features = "ds";
  assert_contains(cluster.actions(), "features ds-m");
}

void makes_nodes_of_another_size_again(void**) {
  const Change small = [](SlurmNode& n) { n.cpus = 1; };
  Cluster cluster;
  cluster.nodeset("c", 6)
      .records("c", 0, 0)
      .records("c", 1, 1, small)
      .records("c", 2, 2, [](SlurmNode& n) { n.real_memory_mib = 100; })
      .records("c", 3, 3, [&](SlurmNode& n) { small(n), up(n); })
      .records("c", 4, 4, [&](SlurmNode& n) { small(n), allocated(n); })
      .records("c", 5, 5, [&](SlurmNode& n) { small(n), n.draining = true; });
  assert_text(cluster.actions(), "delete c-[1-2]");
  assert_text(cluster.state("c"), "-/Resizing");
  // Once they are gone they are made as the NodeSet now says.
  cluster.nodes.erase(cluster.nodes.begin() + 1, cluster.nodes.begin() + 3);
  assert_text(cluster.actions(), "create c-[1-2]");
}

// slurmctld 26.05 has read their records from the state of an older one.
void records_without_a_suspend_time_are_made_again_once(void**) {
  const Change without = [](SlurmNode& n) { n.has_no_suspend_time = true; };
  Cluster cluster;
  cluster.nodeset("c", 4)
      .records("c", 0, 0)
      .records("c", 1, 1, without)
      .records("c", 2, 2, [&](SlurmNode& n) { without(n), up(n); })
      .records("c", 3, 3, [&](SlurmNode& n) { without(n), n.draining = true; });
  assert_text(cluster.actions(), "delete c-1");
  // They serve meanwhile: they are not resized.
  NodePlan first = cluster.plan();
  assert_true(first.states.at("c").ready);
  // slurm.conf may say 0.
  cluster.before = &first.states;
  assert_text(cluster.actions(), "");
}

void changes_padding_like_other_nodes(void**) {
  Cluster cluster;
  cluster.nodeset("c", 2, 2).records("c", 0, 0).records("c", 1, 1, allocated);
  assert_text(cluster.actions(), "delete c-0; create c-[00-01]; drain c-1");
}

// slurmctld that drains a node by itself keeps the Reason that is there: one of ours would have it undrained.
void clears_reasons_of_drains_that_are_over(void**) {
  const struct {
    const char* what;
    Change change;
    const char* actions;
  } cases[] = {
      {"a scale-in that was taken back by an administrator",
       [](SlurmNode& n) { allocated(n), n.reason = kReasonScaleIn; }, "clear_reason c-0"},
      {"a Kubernetes node's, powered down and up since",
       [](SlurmNode& n) { up(n), n.reason = "slurm-k8s: kubernetes node m is gone"; }, "clear_reason c-0"},
      {"an update's", [](SlurmNode& n) { up(n), n.reason = kReasonUpdate; }, "clear_reason c-0"},
      {"a protected NodeSet's", [](SlurmNode& n) { up(n), n.reason = "slurm-k8s: protected: x"; }, "clear_reason c-0"},
      {"cleared", [](SlurmNode& n) { up(n), n.reason = kReasonReleased; }, ""},
      {"powered down: slurmctld drains none of these", [](SlurmNode& n) { n.reason = kReasonUpdate; }, ""},
      {"of a failed start", [](SlurmNode& n) { up(n), n.reason = "slurm-k8s: no room"; }, ""},
      {"an administrator's", [](SlurmNode& n) { up(n), n.reason = "disk"; }, ""},
      {"DOWN", [](SlurmNode& n) { up(n), n.base = Base::down, n.reason = "slurm-k8s: scale-in : Not responding"; }, ""},
  };
  for (const auto& row : cases) {
    Cluster cluster;
    cluster.nodeset("c", 1).records("c", 0, 0, row.change);
    if (cluster.actions() != row.actions) fail_msg("%s: \"%s\"", row.what, cluster.actions().c_str());
  }
}

// With each way in which slurmctld keeps Reasons: our drain, taken back while a job runs; then slurmctld's own.
void leaves_slurmctlds_own_drains_alone(void**) {
  const char* const reasons[] = {kReasonScaleIn, kReasonUpdate, "slurm-k8s: kubernetes node m is cordoned"};
  for (const bool clears : {false, true}) {
    for (const char* reason : reasons) {
      FakeSlurm slurm;
      slurm.clears_reasons = clears;
      Cluster cluster;
      cluster.nodeset("c", 1).records("c", 0, 0, allocated).pod("c-0");
      slurm.node("c-0") = cluster.nodes[0];
      assert_true(slurm.update_nodes("c-0", {.state = SlurmNodeUpdate::State::drain, .reason = reason}).ok());
      cluster.nodes[0] = slurm.node("c-0");
      assert_text(cluster.actions(), "undrain c-0");
      assert_true(slurm.update_nodes("c-0", {.state = SlurmNodeUpdate::State::undrain}).ok());
      slurm.drain_itself("c-0", "Kill task failed");
      cluster.nodes[0] = slurm.node("c-0");
      if (!cluster.actions().empty()) fail_msg("%s, %d: \"%s\"", reason, clears, cluster.actions().c_str());
      assert_text(cluster.nodes[0].reason, clears ? "Kill task failed" : kReasonReleased);
    }
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(records_follow_extra_conf),
      SLURMK8S_TEST(records_with_a_former_gres_are_made_again),
      SLURMK8S_TEST(records_of_a_spec_that_is_as_before_are_right),
      SLURMK8S_TEST(a_parameter_that_is_removed_leaves_the_records),
      SLURMK8S_TEST(a_weight_that_is_removed_is_set_until_it_is_the_default),
      SLURMK8S_TEST(an_invalid_spec_loses_no_feature),
      SLURMK8S_TEST(gres_that_slurm_ignores_are_not_ready),
      SLURMK8S_TEST(nodes_have_the_features_of_their_kube_node),
      SLURMK8S_TEST(nodes_have_the_topology_of_their_kube_node),
      SLURMK8S_TEST(a_node_goes_for_a_job_that_waits_for_its_variant),
      SLURMK8S_TEST(a_node_that_belongs_to_a_kube_node_has_its_features_always),
      SLURMK8S_TEST(makes_nodes_of_another_size_again),
      SLURMK8S_TEST(records_without_a_suspend_time_are_made_again_once),
      SLURMK8S_TEST(changes_padding_like_other_nodes),
      SLURMK8S_TEST(clears_reasons_of_drains_that_are_over),
      SLURMK8S_TEST(leaves_slurmctlds_own_drains_alone),
  };
  return cmocka_run_group_tests_name("sidecar_node_plan_records", tests, nullptr, nullptr);
}
