// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/reconciler: rounds against a fake slurmctld: records follow NodeSets, pods and Kubernetes nodes.
#include "sidecar/reconciler.hpp"

#include "sidecar/status_writer.hpp"
#include "support/cmocka.hpp"
#include "support/reconciler_world.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using Fixture = ReconcilerWorld;
using std::chrono::seconds;

void waits_for_the_list(void**) {
  Fixture f;
  f.slurm.node("old-0").features = "old";
  f.scale("c", 2);
  f.rounds(2);
  assert_int_equal(f.slurm.calls.size(), 0);
  assert_int_equal(f.slurm.loads, 0);
  f.reconciler.set_listed();
  f.rounds(1);
  assert_text(f.slurm.names(), "c-[0-1]");
}

// The clock begins on a Thursday at 00:00 UTC, 01:00 in Berlin.
void follows_spare_schedules(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.reconciler.upsert(f.object(
      "c", R"({"replicas":4,"spareSchedules":[{"start":"2 1 * * 4","duration":"2m","timeZone":"Europe/Berlin",)"
           R"("replicas":2}],"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}})"));
  f.rounds(120);
  assert_int_equal(f.slurm.calls.size(), 1);
  assert_contains(f.slurm.calls[0], "create NodeName=c-[0-3]");
  f.rounds(1);  // 01:02 in Berlin
  assert_text(f.slurm.calls.back(), "power_up c-[0-1]");
  f.slurm.power_up_asked();
  f.rounds(1);
  const std::size_t calls = f.slurm.calls.size();
  f.rounds(117);
  assert_int_equal(f.slurm.calls.size(), calls);  // nothing happens: nothing is written
  f.rounds(2);
  assert_text(*f.slurm.exempt_nodes, "");
}

void follows_replicas(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 8);
  f.rounds(1);
  // One round does it, and its result is seen in the same round.
  assert_text(f.slurm.names(), "c-[0-7]");
  assert_text(f.ready("c"), "True NodesMatch: 8 node records as the spec says");
  assert_int_equal(f.reconciler.states().at("c").counts.total, 8);
  assert_int_equal(f.slurm.calls.size(), 1);

  f.scale("c", 12);
  f.rounds(1);
  assert_text(f.slurm.calls.back(), "create NodeName=c-[8-11] State=CLOUD Feature=c CPUs=2 RealMemory=936");

  f.slurm.node("c-7").base = Base::allocated;
  f.slurm.node("c-7").powered_down = false;
  f.scale("c", 6);
  f.rounds(1);
  assert_text(f.slurm.names(), "c-[0-4,7]");  // the busy one stays
  assert_text(f.ready("c"), "True NodesMatch: 6 node records as the spec says");
  f.scale("c", 0);
  f.rounds(1);
  assert_text(f.slurm.names(), "c-7");
  assert_text(f.ready("c"), "False ScalingIn: c-7 (1): removed when idle and powered down");
  assert_text(f.slurm.node("c-7").reason, kReasonScaleIn);
  f.slurm.node("c-7").base = Base::idle;
  f.rounds(5);
  assert_int_equal(f.slurm.size(), 0);
  assert_text(f.ready("c"), "True NodesMatch: 0 node records as the spec says");
  assert_true(f.slurm.harmed.empty());

  f.scale("c", 2);
  f.rounds(1);
  f.reconciler.remove("c");
  f.rounds(1);
  assert_int_equal(f.slurm.size(), 0);
  assert_int_equal(f.reconciler.states().size(), 0);
}

// Two nodes of scalingMode Always, one at a time. The second sidecar knows what the first one knew.
void rolls_a_template_out(void**) {
  Fixture f;
  f.slurm.exempt_nodes = "c";
  f.reconciler.set_listed();
  const std::string former = f.template_of("c", 2, "i");
  f.rounds(1);
  for (const char* node : {"c-0", "c-1"}) f.come_up(node, former);
  f.rounds(2);
  assert_true(f.reconciler.states().at("c").roll_out.done);
  f.slurm.calls.clear();

  const std::string present = f.template_of("c", 2, "j");
  f.rounds(3);                             // asked for, powering down, powered down
  assert_true(f.come_up("c-0", present));  // its predecessor's removal was missed
  assert_true(f.come_up("c-0", former));
  f.slurm.node("c-0").powered_down = true;
  f.reconciler.remove_pod("c-0", "u-" + former);
  f.rounds(1);
  assert_int_equal(f.slurm.calls.size(), 2);
  assert_text(f.slurm.calls[0], "power_down_asap c-0 slurm-k8s: update of the template");
  assert_text(f.slurm.calls[1], "power_up c-0");  // at once: it didn't die
  assert_true(f.come_up("c-0", present));
  assert_false(f.come_up("c-0", present));
  f.rounds(1);
  assert_text(f.slurm.calls.back(), "power_down_asap c-1 slurm-k8s: update of the template");
  assert_true(f.slurm.harmed.empty());
  assert_int_equal(f.reconciler.requests().at("recycle").ok, 2);

  // One that fails is remembered when it is tried again.
  const auto is_stopped = [&] { return f.reconciler.states().at("c").roll_out.stopped; };
  assert_false(is_stopped());
  f.slurm.node("c-0").base = Base::down;
  f.slurm.node("c-0").reason = "slurm-k8s: ErrImagePull";
  f.rounds(1);
  assert_true(is_stopped());
  f.slurm.node("c-0").base = Base::idle;
  f.slurm.node("c-0").powering_up = true;
  f.rounds(1);
  assert_true(is_stopped());
  f.slurm.node("c-0").powering_up = false;
  f.rounds(1);
  assert_false(is_stopped());

  for (const bool stopped : {true, false}) {
    Fixture other;
    other.reconciler.set_listed();
    other.slurm.exempt_nodes = "c";
    other.slurm.node("c-0").cpus = 2;
    other.slurm.node("c-0").real_memory_mib = 936;
    other.slurm.node("c-0").features = "c";
    other.come_up("c-0", former);
    other.template_of("c", 1, "j",
                      format(R"({"updateRevision":"%s","conditions":[{"type":"RolledOut","reason":"%s"}]})",
                             present.c_str(), stopped ? "Stopped" : "RollingOut")
                          .c_str());
    other.rounds(3);
    assert_int_equal(other.slurm.calls.empty(), stopped);
    assert_int_equal(other.reconciler.states().at("c").roll_out.stopped, stopped);
  }
}

void settles_nodes_that_it_made(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 4);
  f.rounds(2);
  assert_int_equal(f.slurm.settled, 1);
  f.scale("c", 2);
  f.rounds(2);
  assert_int_equal(f.slurm.settled, 1);
  f.scale("c", 3);
  f.rounds(2);
  assert_int_equal(f.slurm.settled, 2);
}

// A sidecar that was ended between a create and the reconfiguration after it.
void settles_nodes_that_a_former_sidecar_made(void**) {
  Fixture former;
  former.reconciler.set_listed();
  former.scale("c", 4);
  former.rounds(3);
  assert_text(former.kept_unsettled, "+0 -1 ");  // before the create, and after the reconfiguration

  Fixture f([] { return 0.5; }, true);
  f.reconciler.set_listed();
  f.rounds(5);
  assert_int_equal(f.slurm.settled, 1);
  assert_text(f.kept_unsettled, "-0 ");
}

// Refused nodes need no reconfiguration.
void keeps_nothing_of_refused_nodes(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.failures.emplace_back(Errc::invalid, "slurm: Invalid node name specified");
  f.scale("c", 4);
  f.reconciler.round();
  assert_text(f.kept_unsettled, "+0 -1 ");
  assert_int_equal(f.slurm.settled, 0);
}

void undrains_when_scaled_out_again(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 2);
  f.rounds(1);
  for (const char* node : {"c-0", "c-1"}) {
    f.slurm.node(node).base = Base::allocated;
    f.slurm.node(node).powered_down = false;
  }
  f.scale("c", 1);
  f.rounds(1);
  assert_true(f.slurm.node("c-1").draining);
  f.scale("c", 2);
  f.rounds(1);
  assert_false(f.slurm.node("c-1").draining);
  assert_text(f.ready("c"), "True NodesMatch: 2 node records as the spec says");
}

void heeds_pods(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 3);
  f.rounds(1);
  for (const char* node : {"c-0", "c-1", "c-2"}) {
    f.slurm.node(node).powered_down = false;
    assert_true(f.pod(node, "u-1"));
  }
  assert_true(f.pod("c-0", "u-1", -5));
  assert_false(f.pod("c-0", "u-1", -5, "Failed"));  // what changed decides nothing
  assert_false(f.reconciler.upsert_pod(*Json::parse(R"({"metadata":{"name":"c-9","uid":"x"}})")));  // not a node's
  assert_int_equal(f.reconciler.pods().size(), 3);
  f.scale("c", 2);
  f.reconciler.round();
  f.slurm.pass_time();
  f.reconciler.round();
  assert_true(f.slurm.node("c-0").powering_down && f.slurm.node("c-0").draining);
  const std::size_t calls = f.slurm.calls.size();
  f.reconciler.round();
  assert_int_equal(f.slurm.calls.size(), calls);  // its pod is still there

  assert_false(f.reconciler.remove_pod("c-0", "another"));
  assert_true(f.reconciler.remove_pod("c-0", "u-1"));
  assert_false(f.reconciler.remove_pod("c-0", "u-1"));
  f.reconciler.round();
  assert_text(f.slurm.names(), "c-[1-2]");
}

// The name that was scaled in serves again as soon as its pod is gone, without SuspendTimeout.
void a_name_that_comes_back_serves_at_once(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 1);
  f.rounds(1);
  f.slurm.node("c-0").powered_down = false;
  f.pod("c-0", "u-1");
  f.scale("c", 0);
  f.reconciler.round();
  f.slurm.pass_time();
  f.reconciler.round();
  assert_true(f.slurm.node("c-0").powering_down && f.slurm.node("c-0").draining);
  f.scale("c", 1);
  f.reconciler.round();
  assert_true(f.slurm.node("c-0").powering_down);
  f.reconciler.remove_pod("c-0", "u-1");
  f.reconciler.round();
  assert_true(f.slurm.node("c-0").powered_down);
  assert_false(f.slurm.node("c-0").going_down() || f.slurm.node("c-0").draining);
}

// In the round in which the NodeSet is heard of: made, kept from suspends, asked up.
void keeps_nodes_up(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale_always("c", 2);
  f.reconciler.round();
  assert_int_equal(f.slurm.calls.size(), 3);
  assert_text(f.slurm.calls[1], "exempt c-[0-1]");
  assert_text(f.slurm.calls[2], "power_up c-[0-1]");
  assert_text(*f.slurm.exempt_nodes, "c-[0-1]");
  assert_int_equal(f.power_save_woken, 1);
  f.slurm.power_up_asked();
  f.rounds(20);
  assert_int_equal(f.power_save_woken, 1);
  assert_text(f.ready("c"), "True NodesMatch: 2 node records as the spec says");
  assert_int_equal(f.slurm.calls.size(), 3);

  f.scale_always("c", 3);
  f.reconciler.round();
  assert_text(*f.slurm.exempt_nodes, "c-[0-2]");
  assert_int_equal(f.slurm.settled, 0);
  assert_true(f.slurm.node("c-2").power_up_asked);
  f.slurm.power_up_asked();

  // Our own reconfiguration, after another create, drops the exemptions.
  f.scale("d", 1);
  f.reconciler.round();
  assert_int_equal(f.slurm.settled, 1);
  assert_text(*f.slurm.exempt_nodes, "c-[0-2]");
  assert_int_equal(f.slurm.calls.size(), 8);

  // An administrator's reconfiguration is noticed within a minute.
  f.slurm.exempt_nodes = "";
  f.rounds(61);
  assert_text(*f.slurm.exempt_nodes, "c-[0-2]");

  // On demand again.
  f.scale("c", 3);
  f.rounds(1);
  assert_text(*f.slurm.exempt_nodes, "");
  assert_int_equal(f.slurm.settled, 2);
  assert_true(f.reconciler.states().at("c").ready);
}

// slurmctld keeps them over a restart of the sidecar: idle pods would stay up.
void takes_back_exemptions_of_a_former_sidecar(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale_always("c", 2);
  f.rounds(2);
  assert_text(*f.slurm.exempt_nodes, "c-[0-1]");
  *f.slurm.exempt_nodes += ",mine";
  Json object = f.object("c", R"({"replicas":2,"slurmd":{"image":"i","resources":{"limits":{"cpu":"2",)"
                              R"("memory":"1000Mi"}}}})");
  object.set("status", encode_status("c", f.reconciler.states().at("c")));
  Reconciler second(f.slurm, f.slurm, f.clock);
  second.upsert(object);
  second.set_listed();
  second.round();
  assert_text(*f.slurm.exempt_nodes, "mine");
  assert_true(second.states().at("c").exempt.empty());
}

void does_not_power_up_in_a_hurry(void**) {
  Fixture f([] { return 1.0; });
  f.reconciler.set_listed();
  f.scale_always("c", 1);
  // Whatever comes up dies within a second.
  int power_ups = 0;
  for (int second = 0; second < 300; second++) {
    f.reconciler.round();
    power_ups += f.slurm.node("c-0").power_up_asked;
    f.slurm.node("c-0").power_up_asked = false;
    f.clock.advance(seconds(1));
  }
  assert_in_range(power_ups, 5, 6);  // after 0, 10, 30, 70, 150 s; next after 310; or half of that, by jitter
  // Scaled in and out, it is a new node.
  f.scale_always("c", 0);
  f.rounds(2);
  f.scale_always("c", 1);
  f.reconciler.round();
  assert_true(f.slurm.node("c-0").power_up_asked);
}

void is_quiet_at_rest(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 8);
  f.rounds(1);
  const std::size_t calls = f.slurm.calls.size();
  f.reconciler.round();
  const int loads = f.slurm.loads;
  for (int i = 0; i < 100; i++) {
    assert_int_equal(f.reconciler.round().count(), 1000);
    f.clock.advance(seconds(1));
  }
  assert_int_equal(f.slurm.loads, loads);
  assert_int_equal(f.slurm.calls.size(), calls);
  // Our own write of the status comes back: same generation, nothing to do.
  f.generation--;
  f.scale("c", 8);
  f.reconciler.round();
  assert_int_equal(f.slurm.calls.size(), calls);
}

// Each look copies all records when anything has changed.
void looks_less_often_at_many_nodes_that_change(void**) {
  const struct {
    int nodes;
    int changing;
  } rows[] = {{8, 1000}, {1000, 1000}, {1500, 1500}, {9000, 2000}};
  for (const auto& row : rows) {
    Fixture f;
    f.reconciler.set_listed();
    f.scale("c", row.nodes);
    f.slurm.limit = 10000;
    f.rounds(3);
    f.reconciler.round();
    assert_int_equal(f.reconciler.round().count(), 1000);
    f.slurm.node("c-0").base = SlurmNode::Base::allocated;
    assert_int_equal(f.reconciler.round().count(), row.changing);
    f.slurm.pass_time();
    f.reconciler.round();
    assert_int_equal(f.reconciler.round().count(), 1000);
  }
}

void is_idempotent_after_a_restart(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 4);
  f.rounds(1);
  const std::size_t calls = f.slurm.calls.size();
  Reconciler second(f.slurm, f.slurm, f.clock);
  second.upsert(
      f.object("c", R"({"replicas":4,"slurmd":{"image":"i","resources":{"limits":{"cpu":"2","memory":"1000Mi"}}}})"));
  second.set_listed();
  second.round();
  assert_int_equal(f.slurm.calls.size(), calls);
  assert_true(second.states().at("c").ready);
}

void makes_resized_nodes_again(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 2);
  f.rounds(1);
  f.slurm.node("c-1").powered_down = false;
  f.scale("c", 2, "1");
  f.rounds(1);
  assert_int_equal(f.slurm.node("c-0").cpus, 1);
  assert_int_equal(f.slurm.node("c-1").cpus, 2);
  assert_text(f.ready("c"), "False Resizing: c-1 (1): made again when idle and powered down");
  f.slurm.node("c-1").powered_down = true;
  f.rounds(1);
  assert_int_equal(f.slurm.node("c-1").cpus, 1);
  assert_true(f.reconciler.states().at("c").ready);
}

void keeps_a_wrong_spec_apart(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("bad", 3);
  f.rounds(1);
  f.reconciler.upsert(f.object("bad", R"({"replicas":1,"slurmd":{"image":"i"}})"));
  f.scale("good", 1);
  f.rounds(2);
  assert_text(f.slurm.names(), "bad-[0-2],good-0");
  assert_text(f.ready("bad"), "False InvalidSpec: nodeset slurm/bad: spec.slurmd.resources.limits.cpu: Required value");
  assert_int_equal(f.reconciler.states().at("bad").counts.total, 3);
  assert_true(f.reconciler.states().at("good").ready);
  f.scale("bad", 1);
  f.rounds(1);
  assert_text(f.slurm.names(), "bad-0,good-0");
}

// slurmctld reads the file when it makes a node: without its lines the node would have no GPU, and stay so.
void writes_gres_conf_before_nodes_are_made(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.gres_conf_status = Error(Errc::unavailable, "/state/gres.conf: No space left on device");
  f.reconciler.upsert(f.object("g", R"({"replicas":2,"gresType":"a100","slurmd":{"image":"i","resources":{"limits":)"
                                    R"({"cpu":"2","memory":"1Gi","nvidia.com/gpu":2}}}})"));
  f.rounds(1);
  assert_text(f.slurm.names(), "");
  assert_contains(f.ready("g"), "False CreateFailed: create g-[0-1]: /state/gres.conf: No space left on device");
  f.gres_conf_status = {};
  f.rounds(10);
  assert_text(f.slurm.names(), "g-[0-1]");
  assert_text(f.slurm.node("g-0").gres, "gpu:a100:2");
  assert_contains(f.ready("g"), "True NodesMatch");
  for (const std::string& text : f.gres_confs) {
    assert_text(text, "NodeName=g-[0-1] Name=gpu Type=a100 File=/run/slurm-k8s/gpu[0-1]\n");
  }
  f.slurm.node("g-0").base = SlurmNode::Base::allocated;
  f.gres_conf_nodes = {"g-0", "g-1"};
  f.reconciler.remove("g");
  f.rounds(3);
  assert_text(f.slurm.names(), "g-0");
  assert_text(f.gres_confs.back(), "NodeName=g-0 Name=gpu Type=a100 File=/run/slurm-k8s/gpu[0-1]\n");
}

// slurmctld puts it back when the node is powered down: it comes again with the next pod.
void a_pod_brings_the_topology_of_its_kube_node(void**) {
  Fixture f;
  f.reconciler.upsert_kube_node(
      *Json::parse(R"({"metadata":{"name":"m","annotations":{"slurm-k8s.io/topology":"default:rack1"}}})"));
  const auto pod = Json::parse(
      R"({"metadata":{"name":"c-0","uid":"u","labels":{"slurm-k8s.io/node":"c-0"}},"spec":{"nodeName":"m"}})");
  f.reconciler.set_kube_nodes_listed();
  f.reconciler.set_listed();
  f.scale("c", 1);
  f.rounds(1);
  for (int i = 0; i < 2; i++) {
    f.slurm.node("c-0").powered_down = false;
    f.slurm.node("c-0").topology = "default:none";
    f.rounds(2);
    assert_text(*f.slurm.node("c-0").topology, "default:none");
    assert_true(f.reconciler.upsert_pod(*pod));
    f.rounds(1);
    assert_text(f.slurm.calls.back(), "update c-0 Topology=default:rack1");
    const std::size_t calls = f.slurm.calls.size();
    f.rounds(3);
    assert_int_equal(f.slurm.calls.size(), calls);
    f.reconciler.remove_pod("c-0", "u");
  }
}

// Which is all that another Kubernetes node of a pod means to its record, without pins.
void a_pod_brings_the_features_of_its_kube_node(void**) {
  Fixture f;
  const auto kube_node = [&](const char* name, const char* annotations) {
    f.reconciler.upsert_kube_node(
        *Json::parse(format(R"({"metadata":{"name":"%s","annotations":%s}})", name, annotations)));
  };
  const auto place = [&](const char* on) {
    return f.reconciler.upsert_pod(*Json::parse(format(
        R"({"metadata":{"name":"c-0","uid":"u","labels":{"slurm-k8s.io/node":"c-0"}},"spec":{"nodeName":"%s"}})", on)));
  };
  kube_node("plain", "{}");
  kube_node("m", R"({"slurm-k8s.io/features":"rack1"})");
  f.reconciler.set_kube_nodes_listed();
  f.reconciler.set_listed();
  f.scale("c", 1);
  place("");
  f.rounds(1);
  f.slurm.node("c-0").powered_down = false;
  assert_false(place("plain"));
  assert_true(place("m"));
  f.rounds(1);
  assert_text(f.slurm.node("c-0").active_features, "c,k8s/rack1");
  assert_text(f.slurm.calls.back(), "update c-0 Features=c,k8s/rack1");
  const std::size_t calls = f.slurm.calls.size();
  f.rounds(3);
  assert_int_equal(f.slurm.calls.size(), calls);
}

/** A pod that Slurm does not count, on Kubernetes node m1. */
Json other_pod(const char* name, int cpus) {
  return *Json::parse(format(R"({"metadata":{"namespace":"x","name":"%s"},"spec":{"nodeName":"m1",)"
                             R"("containers":[{"resources":{"requests":{"cpu":%d}}}]}})",
                             name, cpus));
}

// A pod takes something at once, and gives it back after a minute; a busy node waits until it is idle.
void external_nodes_follow_other_pods(void**) {
  Fixture f;
  OtherPods pods({"slurm", ""});
  f.reconciler.set_listed();
  f.kube_node("m1", 4);
  f.reconciler.set_kube_nodes_listed();
  f.reconciler.upsert(f.object("ex", R"({"scalingMode":"External","slurmd":{}})"));
  f.rounds(2);
  assert_text(f.slurm.names(), "");
  assert_contains(f.ready("ex"), "False PodsUnknown: ");
  f.reconciler.set_other_pods(&pods, "");
  f.rounds(2);
  assert_text(f.ready("ex"), "True NodesMatch: 1 node records as the spec says");
  assert_int_equal(f.slurm.node("ex-m1").cpus, 4);
  assert_int_equal(f.slurm.node("ex-m1").real_memory_mib, 936);

  pods.upsert(other_pod("p", 3));
  f.rounds(2);
  assert_int_equal(f.slurm.node("ex-m1").cpus, 1);
  pods.remove({"x", "p"});
  f.rounds(59);
  assert_int_equal(f.slurm.node("ex-m1").cpus, 1);
  f.rounds(4);
  assert_int_equal(f.slurm.node("ex-m1").cpus, 4);

  f.slurm.node("ex-m1").base = SlurmNode::Base::allocated;
  pods.upsert(other_pod("p", 1));
  f.rounds(10);
  assert_int_equal(f.slurm.node("ex-m1").cpus, 4);
  assert_contains(f.ready("ex"), "False Resizing: ex-m1");
  f.slurm.node("ex-m1").base = SlurmNode::Base::idle;
  f.rounds(3);
  assert_int_equal(f.slurm.node("ex-m1").cpus, 3);

  // Without them nothing is decided; what went meanwhile counts at once.
  f.reconciler.set_other_pods(nullptr, "");
  pods.clear();
  f.rounds(2);
  assert_int_equal(f.slurm.node("ex-m1").cpus, 3);
  f.reconciler.set_other_pods(&pods, "");
  f.rounds(3);
  assert_int_equal(f.slurm.node("ex-m1").cpus, 4);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(waits_for_the_list),
      SLURMK8S_TEST(writes_gres_conf_before_nodes_are_made),
      SLURMK8S_TEST(follows_spare_schedules),
      SLURMK8S_TEST(follows_replicas),
      SLURMK8S_TEST(rolls_a_template_out),
      SLURMK8S_TEST(settles_nodes_that_it_made),
      SLURMK8S_TEST(settles_nodes_that_a_former_sidecar_made),
      SLURMK8S_TEST(keeps_nothing_of_refused_nodes),
      SLURMK8S_TEST(undrains_when_scaled_out_again),
      SLURMK8S_TEST(heeds_pods),
      SLURMK8S_TEST(a_name_that_comes_back_serves_at_once),
      SLURMK8S_TEST(keeps_nodes_up),
      SLURMK8S_TEST(takes_back_exemptions_of_a_former_sidecar),
      SLURMK8S_TEST(does_not_power_up_in_a_hurry),
      SLURMK8S_TEST(a_pod_brings_the_features_of_its_kube_node),
      SLURMK8S_TEST(a_pod_brings_the_topology_of_its_kube_node),
      SLURMK8S_TEST(is_quiet_at_rest),
      SLURMK8S_TEST(looks_less_often_at_many_nodes_that_change),
      SLURMK8S_TEST(is_idempotent_after_a_restart),
      SLURMK8S_TEST(makes_resized_nodes_again),
      SLURMK8S_TEST(keeps_a_wrong_spec_apart),
      SLURMK8S_TEST(external_nodes_follow_other_pods),
  };
  return cmocka_run_group_tests_name("sidecar_reconciler", tests, nullptr, nullptr);
}
