// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/node_plan: what becomes of each node record.
#include "sidecar/node_plan.hpp"

#include <functional>

#include "slurm/reasons.hpp"
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
  assert_text(some.actions(), "create gpu-[000,002]; features gpu-001; set_weight gpu-001");
  assert_text(some.plan().actions[0].line,
              "NodeName=gpu-[000,002] State=CLOUD Feature=gpu,a100 CPUs=2 RealMemory=936 Weight=10");
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
// What goes otherwise, or is wanted again, was not scaled in: its claims stay.
void tells_which_nodes_were_scaled_in(void**) {
  Cluster cluster;
  cluster.nodeset("c", 2).records("c", 0, 3, allocated);
  NodeSetStates states = cluster.plan().states;
  cluster.before = &states;
  const auto scaled_in = [&] {
    states = cluster.plan().states;
    const std::set<std::string>& names = states.at("c").scaled_in;
    return compress_hostlist({names.begin(), names.end()});
  };
  assert_text(scaled_in(), "c-[2-3]");
  cluster.nodes.pop_back();
  assert_text(scaled_in(), "c-[2-3]");
  cluster.nodes.erase(cluster.nodes.begin());  // by an administrator
  assert_text(scaled_in(), "c-3");             // c-2 stays in its place
  cluster.nodesets.at("c").spec = Error(Errc::invalid, "x");
  assert_text(scaled_in(), "c-3");
  assert_text(cluster.nodeset("c", 4).actions(), "create c-[0,3]");
  assert_text(scaled_in(), "");
  cluster.nodesets.clear();
  cluster.nodeset("c", 2, 3).nodes.clear();  // names with another padding
  cluster.records("c", 0, 1).records("c", 0, 1, {}, 3);
  assert_text(scaled_in(), "");
}

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
      .records("c", 3, 3, [](SlurmNode& n) { n.reason = kReasonScaleIn; })
      .records("c", 4, 4, [](SlurmNode& n) { up(n), drained_by_us(n), n.powering_down = true; })
      .records("c", 5, 5, [](SlurmNode& n) { n.base = Base::down, n.reason = "admin"; })
      .pod("c-4");
  assert_text(cluster.actions(), "undrain c-[0-1]");
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
  assert_text(cluster.actions(), "drop_lost c-[1-2]; create c-3");
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
  assert_text(plan.states.at("c").message, "c-1 (1): slurm has nodes of these names that slurm-k8s did not create");
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
    case NodeAction::Kind::drop_lost: return slurm.drop_lost_nodes();
    case NodeAction::Kind::create: return slurm.create_nodes(action.line);
    case NodeAction::Kind::remove: return slurm.delete_nodes(action.nodes);
    case NodeAction::Kind::undrain: return slurm.update_nodes(action.nodes, {.state = State::undrain});
    case NodeAction::Kind::resume: return slurm.update_nodes(action.nodes, {.state = State::resume});
    case NodeAction::Kind::power_down: return slurm.update_nodes(action.nodes, {.state = State::power_down});
    case NodeAction::Kind::power_up: return slurm.update_nodes(action.nodes, action.change);
    case NodeAction::Kind::exempt_from_suspend: return slurm.exempt_from_suspend(action.nodes, true);
    case NodeAction::Kind::unexempt: return slurm.exempt_from_suspend(action.nodes, false);
    case NodeAction::Kind::recycle:
      return slurm.update_nodes(action.nodes, {.state = State::power_down_asap, .reason = action.reason});
    case NodeAction::Kind::clear_reason:
    case NodeAction::Kind::features:
    case NodeAction::Kind::topology:
    case NodeAction::Kind::set_weight: return slurm.update_nodes(action.nodes, action.change);
    case NodeAction::Kind::force_power_down:
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
      SLURMK8S_TEST(leaves_alone_what_matches),
      SLURMK8S_TEST(takes_each_state_out_safely),
      SLURMK8S_TEST(ends_power_downs_of_nodes_without_pods),
      SLURMK8S_TEST(puts_many_into_one_call),
      SLURMK8S_TEST(counts_records_not_ordinals),
      SLURMK8S_TEST(scales_out_with_leaving_nodes_first),
      SLURMK8S_TEST(tells_which_nodes_were_scaled_in),
      SLURMK8S_TEST(counts_names_that_others_have),
      SLURMK8S_TEST(undrains_only_its_own),
      SLURMK8S_TEST(has_lost_records_dropped),
      SLURMK8S_TEST(removes_records_without_nodeset),
      SLURMK8S_TEST(never_touches_nodes_of_others),
      SLURMK8S_TEST(keeps_similar_names_apart),
      SLURMK8S_TEST(leaves_records_of_a_wrong_spec),
      SLURMK8S_TEST(stops_at_the_limit_of_slurm),
      SLURMK8S_TEST(counts_states),
      SLURMK8S_TEST(keeps_messages_short),
      SLURMK8S_TEST(comes_to_rest_without_harm),
      SLURMK8S_TEST(plans_65536_nodes_quickly),
  };
  return cmocka_run_group_tests_name("sidecar_node_plan", tests, nullptr, nullptr);
}
