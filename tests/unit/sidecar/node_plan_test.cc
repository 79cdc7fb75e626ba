// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/node_plan: what becomes of each node record.
#include "sidecar/node_plan.hpp"

#include <functional>

#include "nodeset/names.hpp"
#include "sidecar/node_state.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"
#include "support/node_cluster.hpp"

namespace slurmk8s {
namespace {

void makes_what_is_missing(void**) {
  Cluster none;
  none.nodeset("compute", 12);
  assert_text(none.actions(), "create compute-[0-11]");
  assert_text(none.state("compute"), "-/ScalingOut");
  assert_text(none.plan().actions[0].line, "NodeName=compute-[0-11] State=CLOUD Feature=compute CPUs=2 RealMemory=936");
  assert_text(none.plan().actions[0].nodeset, "compute");

  NodeSet special = nodeset_of("gpu", 3, 3);
  special.features = "gpu,a100";
  special.extra_conf = "Weight=10";
  Cluster some;
  some.nodeset(special).records("gpu", 1, 1, {}, 3);
  assert_text(some.actions(), "create gpu-[000,002]; features gpu-001; weigh gpu-001");
  assert_text(some.plan().actions[0].line,
              "NodeName=gpu-[000,002] State=CLOUD Feature=gpu,a100 CPUs=2 RealMemory=936 Weight=10");
}

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
  assert_text(cluster.plan().actions[0].reason, kScaleInReason);
}

void records_follow_extra_conf(void**) {
  NodeSet nodeset = nodeset_of("c", 4);
  nodeset.extra_conf = "CoreSpecCount=1 Weight=10";
  Cluster cluster;
  cluster.nodeset(nodeset).records("c", 0, 1).records("c", 2, 2, up).records("c", 3, 3, allocated);
  cluster.nodes[3].weight = 10;
  assert_text(cluster.actions(), "delete c-[0-1]; weigh c-2");
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

void leaves_alone_what_matches(void**) {
  Cluster cluster;
  cluster.nodeset("c", 8).records("c", 0, 1).records("c", 2, 3, up).records("c", 4, 7, allocated);
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "Ready/NodesMatch");
  Cluster empty;
  empty.nodeset("c", 0);
  assert_text(empty.actions(), "");
  assert_text(empty.state("c"), "Ready/NodesMatch");
}

// Node c-0 of a NodeSet without replicas: what is done with it in each state, while its pod is there.
void takes_each_state_out_safely(void**) {
  const struct {
    const char* name;
    Change change;
    const char* actions;
  } cases[] = {
      {"powered down", [](SlurmNode&) {}, "delete c-0"},
      {"powered down, drained by us", drained_by_us, "delete c-0"},
      {"powered down, drained by others", [](SlurmNode& n) { n.draining = true; }, "delete c-0"},
      {"powered down and down", [](SlurmNode& n) { n.base = Base::down; }, "delete c-0"},
      {"powered down, power down asked again", [](SlurmNode& n) { n.powering_down = true; }, "drain c-0"},
      {"powered down, reserved", [](SlurmNode& n) { n.reserved = true; }, ""},
      {"powered down, allocated", [](SlurmNode& n) { n.base = Base::allocated; }, ""},
      {"powered down, mixed", [](SlurmNode& n) { n.base = Base::mixed; }, ""},
      {"powered down, power up asked", [](SlurmNode& n) { n.power_up_asked = true; }, ""},
      {"powering up for a job", [](SlurmNode& n) { allocated(n), n.powering_up = true; }, ""},
      {"powering up idle", [](SlurmNode& n) { up(n), n.powering_up = true; }, ""},
      {"up", up, "power_down c-0"},
      {"up, drained", [](SlurmNode& n) { up(n), drained_by_us(n); }, "power_down c-0"},
      {"up, not responding", [](SlurmNode& n) { up(n), n.not_responding = true; }, "power_down c-0"},
      {"up, down", [](SlurmNode& n) { up(n), n.base = Base::down; }, "power_down c-0"},
      {"up, reserved", [](SlurmNode& n) { up(n), n.reserved = true; }, ""},
      {"up, unknown", [](SlurmNode& n) { up(n), n.base = Base::unknown; }, ""},
      {"allocated", allocated, "drain c-0"},
      {"mixed", [](SlurmNode& n) { up(n), n.base = Base::mixed; }, "drain c-0"},
      {"completing", [](SlurmNode& n) { up(n), n.completing = true; }, "drain c-0"},
      {"allocated, drained by us", [](SlurmNode& n) { allocated(n), drained_by_us(n); }, ""},
      {"allocated, drained by others", [](SlurmNode& n) { allocated(n), n.draining = true; }, ""},
      {"powering down", [](SlurmNode& n) { up(n), n.powering_down = true; }, "drain c-0"},
      {"powering down, drained", [](SlurmNode& n) { up(n), n.powering_down = true, drained_by_us(n); }, ""},
  };
  for (const auto& c : cases) {
    Cluster cluster;
    cluster.nodeset("c", 0).records("c", 0, 0, c.change).pod("c-0");
    const std::string actions = cluster.actions();
    if (actions != c.actions) fail_msg("%s: \"%s\" instead of \"%s\"", c.name, actions.c_str(), c.actions);
    assert_text(cluster.state("c"), "-/ScalingIn");
  }
}

// slurmctld waits for SuspendTimeout, but the pod is gone.
void ends_power_downs_of_nodes_without_pods(void**) {
  const Change powering_down = [](SlurmNode& n) { up(n), n.powering_down = true; };
  const struct {
    const char* name;
    Change change;
    const char* leaving;
    const char* staying;
  } cases[] = {
      {"powering down", powering_down, "resume c-0", ""},  // the engine ends it of a node that stays
      {"drained by us", [&](SlurmNode& n) { powering_down(n), drained_by_us(n); }, "resume c-0", "resume c-0"},
      {"drained by others", [&](SlurmNode& n) { powering_down(n), n.draining = true; }, "resume c-0", ""},
      {"asked again", [&](SlurmNode& n) { powering_down(n), n.power_down_asked = true; }, "drain c-0", ""},
      {"asked", [](SlurmNode& n) { up(n), n.power_down_asked = true; }, "drain c-0", ""},
      {"down", [&](SlurmNode& n) { powering_down(n), n.base = Base::down; }, "drain c-0", ""},
      {"completing", [&](SlurmNode& n) { powering_down(n), n.completing = true; }, "drain c-0", ""},
      {"up", up, "power_down c-0", ""},
  };
  for (const auto& c : cases) {
    for (const bool stays : {false, true}) {
      Cluster cluster;
      cluster.nodeset("c", stays).records("c", 0, 0, c.change);
      const std::string actions = cluster.actions();
      const char* expected = stays ? c.staying : c.leaving;
      if (actions != expected) fail_msg("%s: \"%s\" instead of \"%s\"", c.name, actions.c_str(), expected);
    }
  }
}

void puts_many_into_one_call(void**) {
  Cluster cluster;
  cluster.nodeset("c", 0).records("c", 0, 1).records("c", 2, 3, up).records("c", 4, 5, allocated).records("c", 6, 7);
  assert_text(cluster.actions(), "delete c-[0-1,6-7]; drain c-[4-5]; power_down c-[2-3]");
  const NodePlan plan = cluster.plan();
  assert_text(plan.states.at("c").message, "c-[0-7] (8): removed when idle and powered down");
}

// Records that are left needn't be the first ones, and those that come take the lowest free ordinals.
void counts_records_not_ordinals(void**) {
  Cluster in;
  in.nodeset("c", 2).records("c", 0, 2).records("c", 3, 4, allocated);
  assert_text(in.actions(), "delete c-[0-2]");
  in.nodes.erase(in.nodes.begin(), in.nodes.begin() + 3);
  assert_text(in.actions(), "");
  assert_text(in.state("c"), "Ready/NodesMatch");
  in.nodeset("c", 4);
  assert_text(in.actions(), "create c-[0-1]");
  in.nodeset("c", 1);
  assert_text(in.actions(), "drain c-4");
}

void scales_out_with_leaving_nodes_first(void**) {
  const Change leaving = [](SlurmNode& n) { allocated(n), drained_by_us(n); };
  Cluster cluster;
  cluster.nodeset("c", 1).records("c", 0, 0, allocated).records("c", 1, 3, leaving);
  assert_text(cluster.actions(), "");
  cluster.nodeset("c", 3);
  assert_text(cluster.actions(), "undrain c-[1-2]");
  cluster.nodeset("c", 6);
  assert_text(cluster.actions(), "undrain c-[1-3]; create c-[4-5]");
}

// A name that somebody else has counts as a node: nothing else is made in its place, and nothing is deleted for it.
void counts_names_that_others_have(void**) {
  Cluster cluster;
  cluster.nodeset("c", 3).records("c", 0, 0).records("c", 1, 1, [](SlurmNode& n) { n.dynamic = false; });
  cluster.records("c", 5, 5, allocated);
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/NameTaken");
  cluster.nodeset("c", 4);
  assert_text(cluster.actions(), "create c-2");
  cluster.nodeset("c", 1);  // no name of others among the first one
  assert_text(cluster.actions(), "delete c-0");
}

void undrains_only_its_own(void**) {
  Cluster cluster;
  cluster.nodeset("c", 6)
      .records("c", 0, 0, [](SlurmNode& n) { allocated(n), drained_by_us(n); })
      .records("c", 1, 1, drained_by_us)
      .records("c", 2, 2, [](SlurmNode& n) { n.draining = true, n.reason = "disk"; })
      .records("c", 3, 3, [](SlurmNode& n) { n.reason = kScaleInReason; })
      .records("c", 4, 4, [](SlurmNode& n) { up(n), drained_by_us(n), n.powering_down = true; })
      .records("c", 5, 5, [](SlurmNode& n) { n.base = Base::down, n.reason = "admin"; })
      .pod("c-4");
  assert_text(cluster.actions(), "undrain c-[0-1]");
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

void changes_padding_like_other_nodes(void**) {
  Cluster cluster;
  cluster.nodeset("c", 2, 2).records("c", 0, 0).records("c", 1, 1, allocated);
  assert_text(cluster.actions(), "delete c-0; create c-[00-01]; drain c-1");
}

// At its start slurmctld found no address for two nodes, and forgot what they were.
void has_lost_records_dropped(void**) {
  const Change lost = [](SlurmNode& n) {
    n.base = Base::future;
    n.cloud = n.dynamic = n.powered_down = false;
    n.reason = "NO NETWORK ADDRESS FOUND";
  };
  Cluster cluster;
  cluster.nodeset("c", 4).records("c", 0, 0).records("c", 1, 2, lost).records("theirs", 0, 3, lost);
  assert_text(cluster.actions(), "recover c-[1-2]; create c-3");
  assert_text(cluster.state("c"), "-/NodesLost");
  // Nodes that an administrator has set FUTURE, or that are so in slurm.conf.
  Cluster others;
  others.nodeset("c", 2).records("c", 0, 1, [](SlurmNode& n) {
    n.base = Base::future;
    n.cloud = n.dynamic = n.powered_down = false;
  });
  assert_text(others.actions(), "");
  assert_text(others.state("c"), "-/NameTaken");
}

void removes_records_without_nodeset(void**) {
  Cluster cluster;
  cluster.nodeset("c", 1)
      .records("c", 0, 0)
      .records("old", 0, 1)
      .records("old", 2, 2, allocated)
      .records("old", 3, 3, up)
      .records("theirs", 0, 3, [](SlurmNode& n) { n.features = "x,mytheirs"; });
  assert_text(cluster.actions(), "delete old-[0-1]; drain old-2; power_down old-3");
  assert_int_equal(cluster.plan().states.size(), 1);
}

void never_touches_nodes_of_others(void**) {
  Cluster cluster;
  cluster.nodeset("c", 2)
      .records("c", 0, 0)
      .records("c", 1, 1, [](SlurmNode& n) { n.dynamic = false; })  // CLOUD in slurm.conf
      .records("c", 2, 2, [](SlurmNode& n) { n.dynamic = false; })
      .records("c", 3, 3, [](SlurmNode& n) { n.cloud = false; })  // registered by itself
      .records("gone", 0, 3, [](SlurmNode& n) { n.cloud = false; });
  assert_text(cluster.actions(), "");
  assert_text(cluster.state("c"), "-/NameTaken");
  const NodePlan plan = cluster.plan();
  assert_int_equal(plan.states.at("c").counts.total, 1);
  assert_text(plan.states.at("c").message, "c-1 (1): slurm has nodes of these names that slurm-k8s didn't make");
}

// NodeSets whose names continue each other don't share names of nodes: the last dash divides.
void keeps_similar_names_apart(void**) {
  Cluster cluster;
  cluster.nodeset("a", 2).nodeset("a-1", 2).records("a", 0, 1).records("a-1", 0, 2).records("a-1-1", 0, 0);
  assert_text(cluster.actions(), "delete a-1-2; delete a-1-1-0");
}

void leaves_records_of_a_wrong_spec(void**) {
  Cluster cluster;
  cluster.nodeset("good", 1).records("bad", 0, 3).records("bad", 4, 4, allocated);
  cluster.nodesets.insert_or_assign(
      "bad", KnownNodeSet{.generation = 2, .spec = Error(Errc::invalid, "nodeset slurm/bad: spec.x: Required value")});
  assert_text(cluster.actions(), "create good-0");
  assert_text(cluster.state("bad"), "-/InvalidSpec");
  const NodePlan plan = cluster.plan();
  assert_text(plan.states.at("bad").message, "nodeset slurm/bad: spec.x: Required value");
  assert_int_equal(plan.states.at("bad").counts.total, 5);
}

void stops_at_the_limit_of_slurm(void**) {
  Cluster cluster;
  cluster.max_nodes = 10;
  cluster.nodeset("a", 8).nodeset("b", 8).records("a", 0, 1).records("x", 0, 0, [](SlurmNode& n) { n.cloud = false; });
  assert_text(cluster.actions(), "create a-[2-7]; create b-0");
  assert_text(cluster.state("a"), "-/ScalingOut");
  assert_text(cluster.state("b"), "-/CreateFailed");
  const NodePlan plan = cluster.plan();
  assert_text(plan.states.at("b").message, "b-[1-7] (7): slurm's MaxNodeCount=10 is reached");
  cluster.max_nodes = 1;
  assert_text(cluster.actions(), "");
}

/** A NodeSet "c" of scalingMode Always, with Slurm's SuspendExcNodes. */
Cluster always(std::int64_t replicas, const char* exempt) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", replicas);
  nodeset.scaling_mode = ScalingMode::always;
  cluster.nodeset(nodeset);
  cluster.exemptions.update({.suspend_exc_nodes = exempt ? std::optional<std::string>(exempt) : std::nullopt});
  return cluster;
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
  assert_text(cluster.actions(), "create c-5; exempt c-[0-4]; power_up c-[0,2-3]");
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
  assert_text(leaving.actions(), "delete c-1; power_down c-2; subject c-[1-2]");

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
      {"", "exempt c-[0-1]"},
      {"c-0", "exempt c-1"},
      {"c-[0-9]", ""},
      {"x,c", ""},
      {"ALL", ""},
      {"cc", "exempt c-[0-1]"},
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
  assert_text(cluster.actions(), "subject c-1");
  cluster.nodesets.clear();
  assert_text(cluster.actions(), "power_down c-[0-1]; subject c-1");
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
  assert_text(cluster.plan().actions[0].reason, kScaleInReason);
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

/** A NodeSet "c" of scalingMode DaemonSet, Kubernetes nodes m1, m2.x and m3, and these records. */
Cluster daemon_set(const std::vector<std::string>& records, const Change& change = {}) {
  Cluster cluster;
  NodeSet nodeset = nodeset_of("c", 1);
  nodeset.scaling_mode = ScalingMode::daemon_set;
  cluster.nodeset(nodeset);
  cluster.kube_nodes = {{"m1", {}}, {"m2.x", {}}, {"m3", {.labels = {{"gpu", "yes"}}}}};
  for (const std::string& name : records) {
    cluster.records("c", 0, 0, change);
    cluster.nodes.back().name = name;
  }
  return cluster;
}

const std::vector<std::string> kAllDaemonNodes{"c-m1", "c-m2--x", "c-m3"};

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
    assert_text(busy.plan().actions[0].reason, kScaleInReason);
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
  assert_text(cluster.actions(), "abandon c-m3");
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
  for (const auto& [name, features] :
       {std::pair("c-mine", "other"), {"c-7", "other"}, {"gone-m1", "x,gone"}, {"other-m1", "theirs"}}) {
    cluster.records("x", 0, 0, [&](SlurmNode& n) { n.name = name, n.features = features; });
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
  assert_text(cluster.actions(), "exempt c-m[1,3],c-m2--x");
  cluster.exemptions.added("c", "c-m[1,3],c-m2--x");
  assert_text(cluster.actions(), "");
  cluster.kube_nodes.erase("m3");
  assert_text(cluster.actions(), "power_down c-m3; subject c-m3");
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

void counts_states(void**) {
  Cluster cluster;
  cluster.nodeset("c", 8)
      .records("c", 0, 0)
      .records("c", 1, 1, up)
      .records("c", 2, 2, allocated)
      .records("c", 3, 3, [](SlurmNode& n) { allocated(n), n.powering_up = n.not_responding = true; })
      .records("c", 4, 4, [](SlurmNode& n) { up(n), n.powering_down = true; })
      .records("c", 5, 5, [](SlurmNode& n) { up(n), n.base = Base::mixed, n.draining = true; })
      .records("c", 6, 6, [](SlurmNode& n) { up(n), n.base = Base::down; })
      .records("c", 7, 7, [](SlurmNode& n) { up(n), n.not_responding = true; });
  const NodeCounts counts = cluster.plan().states.at("c").counts;
  assert_int_equal(counts.total, 8);
  assert_int_equal(counts.ready, 2);          // 1, 2
  assert_int_equal(counts.powered_up, 5);     // 1, 2, 5, 6, 7
  assert_int_equal(counts.powering_up, 1);    // 3
  assert_int_equal(counts.powering_down, 1);  // 4
  assert_int_equal(counts.powered_down, 1);   // 0
  assert_int_equal(counts.allocated, 3);      // 2, 3, 5
  assert_int_equal(counts.idle, 4);           // 0, 1, 4, 7
  assert_int_equal(counts.draining, 1);       // 5
  assert_int_equal(counts.down, 1);           // 6
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

// slurmctld that drains a node by itself keeps the Reason that is there: one of ours would have it undrained.
void clears_reasons_of_drains_that_are_over(void**) {
  const struct {
    const char* what;
    Change change;
    const char* actions;
  } cases[] = {
      {"a scale-in that was taken back by an administrator",
       [](SlurmNode& n) { allocated(n), n.reason = kScaleInReason; }, "clear_reason c-0"},
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
  const char* const reasons[] = {kScaleInReason, kReasonUpdate, "slurm-k8s: kubernetes node m is cordoned"};
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

void keeps_messages_short(void**) {
  Cluster cluster;
  cluster.nodeset("c", 0);
  for (int i = 0; i < 2000; i += 2) cluster.records("c", i, i, [](SlurmNode& n) { n.reserved = true; });
  const std::string message = cluster.plan().states.at("c").message;
  assert_true(message.size() < 300);
  assert_contains(message, "c-[0,2,4,");
  assert_contains(message, "... (1000): removed when idle and powered down");
}

Status carry_out(FakeSlurm& slurm, const NodeAction& action) {
  using State = SlurmNodeUpdate::State;
  switch (action.kind) {
    case NodeAction::Kind::recover: return slurm.drop_lost_nodes();
    case NodeAction::Kind::create: return slurm.create_nodes(action.line);
    case NodeAction::Kind::remove: return slurm.delete_nodes(action.nodes);
    case NodeAction::Kind::undrain: return slurm.update_nodes(action.nodes, {.state = State::undrain});
    case NodeAction::Kind::resume: return slurm.update_nodes(action.nodes, {.state = State::resume});
    case NodeAction::Kind::power_down: return slurm.update_nodes(action.nodes, {.state = State::power_down});
    case NodeAction::Kind::power_up: return slurm.update_nodes(action.nodes, {.state = State::power_up});
    case NodeAction::Kind::exempt: return slurm.exempt_from_suspend(action.nodes, true);
    case NodeAction::Kind::subject: return slurm.exempt_from_suspend(action.nodes, false);
    case NodeAction::Kind::recycle:
      return slurm.update_nodes(action.nodes, {.state = State::power_down_asap, .reason = action.reason});
    case NodeAction::Kind::clear_reason:
    case NodeAction::Kind::features:
    case NodeAction::Kind::topology:
    case NodeAction::Kind::weigh: return slurm.update_nodes(action.nodes, action.change);
    case NodeAction::Kind::abandon:
      return slurm.update_nodes(action.nodes, {.state = State::power_down_force, .reason = action.reason});
    case NodeAction::Kind::drain: break;
  }
  return slurm.update_nodes(action.nodes, {.state = State::drain, .reason = action.reason});
}

// The plan carried out on a Slurm whose jobs come and go, in many orders: it always comes to rest with exactly the
// wanted records, no job is ever harmed, and at rest there is nothing to do.
void comes_to_rest_without_harm(void**) {
  unsigned random = 12345;
  const auto dice = [&random](unsigned sides) {
    random = random * 1664525u + 1013904223u;
    return (random >> 16) % sides;
  };
  for (int round = 0; round < 200; round++) {
    FakeSlurm slurm;
    NodeSets nodesets;
    Pods pods;
    SuspendExemptions exemptions;
    const std::set<std::string, std::less<>> held;
    for (int step = 0; step < 120; step++) {
      const bool settling = step >= 30;
      if (!settling && dice(4) == 0) {
        NodeSet nodeset = nodeset_of("c", dice(9), 0);
        if (dice(2) == 0) nodeset.scaling_mode = ScalingMode::always;
        nodeset.template_hash = dice(2) == 0 ? "1-a" : "1-b";
        nodeset.update.max_unavailable = 1 + dice(3);
        nodesets.insert_or_assign("c", KnownNodeSet{.generation = step, .spec = nodeset});
      }
      const auto before = *slurm.load_nodes();
      for (const SlurmNode& node : before) {
        if (dice(3) != 0) continue;
        SlurmNode& live = slurm.node(node.name);
        const bool usable = live.base == Base::idle && !live.draining && !live.powering_down;
        if (live.base == Base::allocated && live.powered_down) {
          live.powered_down = false, live.powering_up = true;
        } else if (live.power_up_asked) {
          live.power_up_asked = live.powered_down = false, live.powering_up = true;
        } else if (live.powering_up) {
          live.powering_up = false;
        } else if (live.base == Base::allocated) {
          live.base = Base::idle;
        } else if (usable && !settling) {
          live.base = Base::allocated;
        }
      }
      slurm.pass_time();
      const auto after = *slurm.load_nodes();
      const std::string template_hash = nodesets.empty() ? "1-a" : nodesets.at("c").spec->template_hash;
      for (const SlurmNode& node : after) {  // pods come and go some time after Slurm asks for it
        if (node.powered_down || (node.powering_down && dice(2) == 0)) {
          pods.erase(node.name);
        } else if (!node.powering_down) {
          PodFacts& pod = pods[node.name];
          pod.deletion_cost = static_cast<std::int32_t>(dice(3));
          if (pod.template_hash.empty()) pod.template_hash = template_hash;
        }
      }
      // Only some of the actions: the sidecar may be killed between any two.
      for (const NodeAction& action :
           plan_nodes({nodesets, *slurm.load_nodes(), pods, 4096, exemptions, held}).actions) {
        if (!settling && dice(4) == 0) break;
        assert_true(carry_out(slurm, action).ok());
      }
    }
    assert_true(slurm.harmed.empty());
    if (nodesets.empty()) continue;
    const NodePlan rest = plan_nodes({nodesets, *slurm.load_nodes(), pods, 4096, exemptions, held});
    assert_int_equal(rest.actions.size(), 0);
    assert_true(rest.states.at("c").ready);
    assert_true(rest.states.at("c").roll_out.done);
    assert_int_equal(slurm.size(), nodesets.at("c").spec->replicas);
  }
}

void plans_65536_nodes_quickly(void**) {
  Cluster cluster;
  cluster.max_nodes = 65536;
  cluster.nodeset("c", 65536).records("c", 0, 32767);
  const NodePlan plan = cluster.plan();
  assert_int_equal(plan.actions.size(), 1);
  assert_text(plan.actions[0].nodes, "c-[32768-65535]");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(makes_what_is_missing),
      SLURMK8S_TEST(empties_cordoned_kube_nodes),
      SLURMK8S_TEST(records_follow_extra_conf),
      SLURMK8S_TEST(nodes_have_the_features_of_their_kube_node),
      SLURMK8S_TEST(nodes_have_the_topology_of_their_kube_node),
      SLURMK8S_TEST(a_node_goes_for_a_job_that_waits_for_its_variant),
      SLURMK8S_TEST(a_node_that_belongs_to_a_kube_node_has_its_features_always),
      SLURMK8S_TEST(leaves_alone_what_matches),
      SLURMK8S_TEST(takes_each_state_out_safely),
      SLURMK8S_TEST(ends_power_downs_of_nodes_without_pods),
      SLURMK8S_TEST(puts_many_into_one_call),
      SLURMK8S_TEST(counts_records_not_ordinals),
      SLURMK8S_TEST(scales_out_with_leaving_nodes_first),
      SLURMK8S_TEST(counts_names_that_others_have),
      SLURMK8S_TEST(undrains_only_its_own),
      SLURMK8S_TEST(makes_nodes_of_another_size_again),
      SLURMK8S_TEST(changes_padding_like_other_nodes),
      SLURMK8S_TEST(has_lost_records_dropped),
      SLURMK8S_TEST(removes_records_without_nodeset),
      SLURMK8S_TEST(never_touches_nodes_of_others),
      SLURMK8S_TEST(keeps_similar_names_apart),
      SLURMK8S_TEST(leaves_records_of_a_wrong_spec),
      SLURMK8S_TEST(stops_at_the_limit_of_slurm),
      SLURMK8S_TEST(keeps_nodes_up),
      SLURMK8S_TEST(powers_many_up_in_one_call),
      SLURMK8S_TEST(lets_nodes_of_always_go),
      SLURMK8S_TEST(exempts_nodes_from_suspends),
      SLURMK8S_TEST(updates_what_stays),
      SLURMK8S_TEST(goes_on_with_a_roll_out),
      SLURMK8S_TEST(makes_a_node_for_each_kube_node),
      SLURMK8S_TEST(follows_kube_nodes),
      SLURMK8S_TEST(does_not_wait_for_a_node_whose_kube_node_went),
      SLURMK8S_TEST(does_not_power_up_on_a_silent_kube_node),
      SLURMK8S_TEST(leaves_a_daemon_set_alone_without_kube_nodes),
      SLURMK8S_TEST(reports_names_of_kube_nodes_that_are_too_long),
      SLURMK8S_TEST(keeps_daemon_sets_and_others_apart),
      SLURMK8S_TEST(exempts_daemon_sets_from_suspends),
      SLURMK8S_TEST(does_not_power_up_what_waits_for_its_kube_node),
      SLURMK8S_TEST(counts_states),
      SLURMK8S_TEST(tells_failed_power_ups),
      SLURMK8S_TEST(clears_reasons_of_drains_that_are_over),
      SLURMK8S_TEST(leaves_slurmctlds_own_drains_alone),
      SLURMK8S_TEST(keeps_messages_short),
      SLURMK8S_TEST(comes_to_rest_without_harm),
      SLURMK8S_TEST(plans_65536_nodes_quickly),
      SLURMK8S_TEST(records_with_a_former_gres_are_made_again),
      SLURMK8S_TEST(gres_that_slurm_ignores_are_not_ready),
      SLURMK8S_TEST(a_node_that_starts_for_no_job_is_powered_down),
  };
  return cmocka_run_group_tests_name("sidecar_node_plan", tests, nullptr, nullptr);
}
