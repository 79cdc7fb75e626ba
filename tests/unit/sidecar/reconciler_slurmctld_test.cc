// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/reconciler: rounds while slurmctld refuses, ends, is away, or has lost records.
#include "sidecar/reconciler.hpp"

#include <algorithm>

#include "base/random.hpp"
#include "sidecar/status_writer.hpp"
#include "support/cmocka.hpp"
#include "support/reconciler_world.hpp"
#include "support/steps.hpp"

namespace slurmk8s {
namespace {

using Fixture = ReconcilerWorld;
using std::chrono::milliseconds;
using std::chrono::seconds;

// slurmctld started while it found no addresses: the records are made again, whatever becomes of the second attempt.
void makes_lost_records_again(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 3);
  f.rounds(2);
  f.slurm.lose("c-0");
  f.slurm.lose("c-2");
  f.rounds(2);
  assert_text(f.slurm.names(), "c-[0-2]");
  assert_true(f.slurm.node("c-0").dynamic && f.slurm.node("c-1").dynamic && f.slurm.node("c-2").dynamic);
  assert_text(f.ready("c"), "True NodesMatch: 3 node records as the spec says");
  assert_int_equal(std::count(f.slurm.calls.begin(), f.slurm.calls.end(), "drop lost nodes"), 1);
}

// A reconfiguration that doesn't help isn't repeated each second.
void rarely_drops_records_that_stay_lost(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 3);
  f.rounds(2);
  f.slurm.drops_lost_nodes = false;
  f.slurm.lose("c-0");
  f.rounds(3600);
  const auto dropped = std::count(f.slurm.calls.begin(), f.slurm.calls.end(), "drop lost nodes");
  assert_in_range(dropped, 3, 8);
  assert_contains(f.ready("c"), "False NodesLost: c-0 (1): slurmctld found no address for them");
  f.slurm.drops_lost_nodes = true;
  f.rounds(3600);
  assert_text(f.ready("c"), "True NodesMatch: 3 node records as the spec says");
}

/** How often slurmctld was asked to make nodes. */
std::int64_t creates(const FakeSlurm& slurm) {
  return std::count_if(slurm.calls.begin(), slurm.calls.end(),
                       [](const std::string& call) { return call.starts_with("create "); });
}

void slurmctld_is_ended_once_by_the_same_nodes(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.ends_at_create = true;
  f.scale("c", 2);
  f.rounds(600);
  assert_int_equal(creates(f.slurm), 1);
  assert_contains(f.ready("c"), "False CreateFailed: create c-[0-1]: slurmctld exited while creating these nodes");
  assert_contains(f.ready("c"), "spec.slurmd.resources");
  f.scale("c", 3);  // an autoscaler that goes up and down doesn't end it either
  f.scale("c", 0);
  f.rounds(2);
  assert_contains(f.ready("c"), "True NodesMatch");
  f.scale("c", 3);
  f.rounds(60);
  assert_int_equal(creates(f.slurm), 1);
  // An hour later once, then two.
  f.clock.advance(std::chrono::hours(1));
  f.rounds(600);
  assert_int_equal(creates(f.slurm), 2);
  f.clock.advance(std::chrono::hours(1));
  f.rounds(60);
  assert_int_equal(creates(f.slurm), 2);
  // Another definition is another matter.
  f.scale("c", 3, "4");
  f.rounds(60);
  assert_int_equal(creates(f.slurm), 3);
  f.slurm.ends_at_create = false;
  f.scale("c", 3, "2");
  f.rounds(2);
  assert_text(f.ready("c"), "True NodesMatch: 3 node records as the spec says");
  assert_false(f.reconciler.states().at("c").create_stop.has_value());
}

void a_restarted_sidecar_knows_what_ended_slurmctld(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.ends_at_create = true;
  f.scale("c", 2);
  f.rounds(2);
  Json object = f.object("c", R"({"replicas":2,"slurmd":{"image":"i","resources":{"limits":{"cpu":"2",)"
                              R"("memory":"1000Mi"}}}})");
  object.set("status", encode_status("c", f.reconciler.states().at("c")));

  Fixture second;
  second.reconciler.set_listed();
  second.reconciler.upsert(object);
  second.rounds(60);
  assert_int_equal(second.slurm.calls.size(), 0);
  assert_contains(second.ready("c"), "False CreateFailed: create c-[0-1]: slurmctld exited while creating these nodes");
  // gres.conf has been mended.
  object["metadata"].set("annotations", Json::object().set("slurm-k8s.io/create-again", "now"));
  second.reconciler.upsert(object);
  second.rounds(1);
  assert_int_equal(creates(second.slurm), 1);
  assert_text(second.ready("c"), "True NodesMatch: 2 node records as the spec says");
}

// slurmctld was there all the time.
void a_create_whose_connection_broke_is_repeated(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.failures.assign(2, Error(Errc::interrupted, "slurm: Zero Bytes were transmitted or received"));
  f.scale("c", 2);
  f.rounds(1);
  assert_contains(f.ready("c"), "False CreateFailed");
  f.rounds(10);
  // The second failure met the reconfiguration: slurmctld might have made them.
  assert_int_equal(creates(f.slurm), 2);
  assert_in_range(f.slurm.settled, 1, 2);
  assert_text(f.ready("c"), "True NodesMatch: 2 node records as the spec says");
}

// The scheduler may not see nodes of which it is not known that they were made.
void nodes_whose_answer_was_lost_are_settled(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.lost_answer = Error(Errc::timeout, "slurm: Socket timed out");
  f.scale("c", 4);
  f.rounds(10);
  assert_int_equal(creates(f.slurm), 1);
  assert_int_equal(f.slurm.settled, 1);
  assert_text(f.ready("c"), "True NodesMatch: 4 node records as the spec says");
}

// slurmctld does not count a delete as a change: what was deleted would be taken for there.
void records_whose_delete_has_no_answer_are_made_again(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 4);
  f.rounds(2);
  f.slurm.lost_answer = Error(Errc::timeout, "slurm: Socket timed out");
  f.scale("c", 0);
  f.rounds(1);
  assert_int_equal(f.slurm.size(), 0);
  f.scale("c", 4);
  f.rounds(10);
  assert_text(f.slurm.names(), "c-[0-3]");
  assert_int_equal(creates(f.slurm), 2);
}

/** All is listed: Kubernetes nodes m1 with 4 CPUs and m2 with 8. */
void show_two_kube_nodes(Fixture& f, const OtherPods& pods) {
  f.reconciler.set_listed();
  f.reconciler.set_kube_nodes_listed();
  f.reconciler.set_other_pods(&pods, "");
  f.kube_node("m1", 4);
  f.kube_node("m2", 8);
}

// Each size is a create of its own.
void refused_external_nodes_hold_up_no_other(void**) {
  Fixture f;
  OtherPods pods({"slurm", ""});
  show_two_kube_nodes(f, pods);
  f.slurm.failures = {Error(Errc::conflict, "slurm: Invalid node name specified")};
  f.reconciler.upsert(f.object("ex", R"({"scalingMode":"External","slurmd":{}})"));
  f.rounds(1);
  assert_text(f.slurm.names(), "ex-m2");
  assert_contains(f.ready("ex"), "False CreateFailed: create ex-m1: slurm: Invalid node name specified");
  f.rounds(5);
  assert_text(f.slurm.names(), "ex-m[1-2]");
}

// The sizes of external nodes change by themselves.
void slurmctld_is_ended_once_by_external_nodes(void**) {
  Fixture f;
  OtherPods pods({"slurm", ""});
  show_two_kube_nodes(f, pods);
  f.slurm.ends_at_create = true;
  f.reconciler.upsert(f.object("ex", R"({"scalingMode":"External","slurmd":{}})"));
  f.rounds(600);
  assert_int_equal(creates(f.slurm), 1);
  f.kube_node("m1", 3);
  f.rounds(60);
  assert_int_equal(creates(f.slurm), 1);
  assert_contains(f.ready("ex"), "False CreateFailed: create ex-m");
  f.slurm.ends_at_create = false;
  f.reconciler.upsert(f.object("ex", R"({"scalingMode":"External","slurmd":{},"extraConf":"Weight=2"})"));
  f.rounds(2);
  assert_text(f.slurm.names(), "ex-m[1-2]");
}

// Each one stops scheduling for a while.
void a_reconfiguration_that_fails_is_rarely_tried_again(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 1);
  f.slurm.settle_error = Error(Errc::unavailable, "slurm: reconfigure failed");
  f.rounds(600);
  assert_in_range(f.reconciler.requests().at("reconfigure").failed, 5, 20);
  f.slurm.settle_error.reset();
  f.rounds(61);
  assert_int_equal(f.slurm.settled, 1);
}

// After a reconfiguration of ours in the same round it is not known which slurmctld a create meets.
void a_create_after_a_reconfiguration_knows_slurmctld(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 2);
  f.rounds(2);
  f.slurm.lose("c-0");
  f.scale("c", 3);
  f.slurm.on_drop = [&] {
    f.slurm.booted++;
    f.slurm.failures = {Error(Errc::interrupted, "slurm: Zero Bytes were transmitted or received")};
  };
  f.rounds(60);
  assert_text(f.slurm.names(), "c-[0-2]");
  assert_text(f.ready("c"), "True NodesMatch: 3 node records as the spec says");
}

void a_refused_topology_holds_up_no_other(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 2);
  f.rounds(2);
  const char* const topologies[] = {"default:rakc1", "default:rock1"};
  f.slurm.wrong_topology = topologies[0];
  for (int i = 0; i < 2; ++i) {
    f.reconciler.upsert_kube_node(*Json::parse(
        format(R"({"metadata":{"name":"m%d","annotations":{"slurm-k8s.io/topology":"%s"}}})", i, topologies[i])));
    f.reconciler.upsert_pod(
        *Json::parse(format(R"({"metadata":{"name":"c-%d","uid":"u%d","labels":{"slurm-k8s.io/node":"c-%d"}},
                   "spec":{"nodeName":"m%d"},"status":{"phase":"Running"}})",
                            i, i, i, i)));
    SlurmNode& node = f.slurm.node("c-" + std::to_string(i));
    node.powered_down = false;
    node.address = "10.0.0.1";
    node.topology = "default:none";
  }
  f.reconciler.set_kube_nodes_listed();
  f.rounds(5);
  assert_text(*f.slurm.node("c-1").topology, "default:rock1");
  assert_contains(f.ready("c"), "Requested topology configuration is not available");
}

// A job got one of them between the look and the call.
void records_that_could_not_be_deleted_are_deleted_later(void**) {
  Fixture f;
  f.reconciler.set_listed();
  const auto put = [&](int cores) {
    f.reconciler.upsert(f.object("c", format(R"({"replicas":2,"extraConf":"CoreSpecCount=%d","slurmd":{"image":"i",
        "resources":{"limits":{"cpu":"4","memory":"1000Mi"}}}})",
                                             cores)));
  };
  put(1);
  f.rounds(2);
  assert_int_equal(f.slurm.node("c-0").core_spec_count, 1);
  f.slurm.failures = {Error(Errc::conflict, "slurm: Requested nodes are busy")};
  put(2);
  f.rounds(30);
  assert_int_equal(f.slurm.node("c-0").core_spec_count, 2);
  assert_text(f.ready("c"), "True NodesMatch: 2 node records as the spec says");
}

void shows_what_slurm_refuses(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.failures = {Error(Errc::forbidden, "slurm: Access denied"), Error(Errc::forbidden, "slurm: Access denied")};
  f.scale("c", 2);
  f.rounds(1);
  assert_text(f.ready("c"), "False CreateFailed: create c-[0-1]: slurm: Access denied");
  assert_int_equal(f.slurm.calls.size(), 1);
  // Not tried at once again, but later, and then at longer distance; the condition stays meanwhile.
  f.rounds(1);
  assert_int_equal(f.slurm.calls.size(), 1);
  f.scale("d", 1);
  f.rounds(1);
  assert_true(f.slurm.has("d-0"));
  f.slurm.failures = {Error(Errc::forbidden, "slurm: Access denied")};
  f.rounds(1);
  assert_text(f.ready("c"), "False CreateFailed: create c-[0-1]: slurm: Access denied");
  f.rounds(10);
  assert_text(f.ready("c"), "True NodesMatch: 2 node records as the spec says");
  assert_int_equal(f.reconciler.requests().at("create").ok, 2);
  assert_true(f.reconciler.requests().at("create").failed >= 1);
}

void tries_at_once_when_the_spec_changes(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.failures = {Error(Errc::invalid, "slurm: Unspecified error")};
  f.scale("c", 2);
  f.rounds(1);
  assert_int_equal(f.slurm.size(), 0);
  f.scale("c", 2);
  f.reconciler.round();
  assert_int_equal(f.slurm.size(), 2);
}

void stops_at_max_node_count(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.limit = 4;
  f.scale("c", 6);
  f.rounds(2);
  assert_text(f.slurm.names(), "c-[0-3]");
  assert_text(f.ready("c"), "False CreateFailed: c-[4-5] (2): slurm's MaxNodeCount=4 is reached");
  // slurmctld was restarted with a larger one: noticed without a change of the NodeSet.
  f.slurm.limit = 10;
  f.rounds(61);
  assert_text(f.slurm.names(), "c-[0-5]");
}

void waits_for_slurmctld(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.slurm.fail_loads = true;
  f.slurm.failures.assign(4, Error(Errc::unavailable, "slurm: Unable to contact slurm controller"));
  f.scale("c", 2);
  milliseconds waits[4];
  for (milliseconds& wait : waits) wait = f.reconciler.round();
  assert_true(waits[0] >= milliseconds(500) && waits[0] <= seconds(1));
  assert_true(waits[3] > waits[0] && waits[3] <= seconds(10));
  assert_false(f.reconciler.slurm_answered().has_value());
  assert_int_equal(f.reconciler.requests().at("load").failed, 4);
  assert_int_equal(f.reconciler.round().count(), 1000);
  assert_int_equal(f.slurm.size(), 2);
  assert_true(f.reconciler.slurm_answered() == f.clock.now());
}

void reads_all_of_a_slurmctld_that_comes_back(void**) {
  Fixture f;
  f.reconciler.set_listed();
  f.scale("c", 2);
  f.rounds(3);
  f.reconciler.round();
  f.slurm.change_machine([&] { f.slurm.node("c-0").base = SlurmNode::Base::down; });
  f.slurm.fail_loads = true;
  f.slurm.failures.assign(1, Error(Errc::unavailable, "slurm: Unable to contact slurm controller"));
  f.reconciler.round();
  f.reconciler.round();
  assert_int_equal(f.reconciler.states().at("c").counts.down, 1);
}

void are_not_tried_again_in_step(void**) {
  Fixture f(random_unit);
  f.reconciler.set_listed();
  f.slurm.failures.assign(1000, Error(Errc::forbidden, "no"));
  f.scale("c", 2);
  f.scale("d", 2);
  assert_false(stay_in_step(2, 400, [&] {
    f.slurm.calls.clear();
    f.rounds(1);
    return f.slurm.calls.size();
  }));
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(makes_lost_records_again),
      SLURMK8S_TEST(rarely_drops_records_that_stay_lost),
      SLURMK8S_TEST(shows_what_slurm_refuses),
      SLURMK8S_TEST(tries_at_once_when_the_spec_changes),
      SLURMK8S_TEST(slurmctld_is_ended_once_by_external_nodes),
      SLURMK8S_TEST(refused_external_nodes_hold_up_no_other),
      SLURMK8S_TEST(stops_at_max_node_count),
      SLURMK8S_TEST(waits_for_slurmctld),
      SLURMK8S_TEST(reads_all_of_a_slurmctld_that_comes_back),
      SLURMK8S_TEST(are_not_tried_again_in_step),
      SLURMK8S_TEST(slurmctld_is_ended_once_by_the_same_nodes),
      SLURMK8S_TEST(a_restarted_sidecar_knows_what_ended_slurmctld),
      SLURMK8S_TEST(a_create_whose_connection_broke_is_repeated),
      SLURMK8S_TEST(nodes_whose_answer_was_lost_are_settled),
      SLURMK8S_TEST(records_whose_delete_has_no_answer_are_made_again),
      SLURMK8S_TEST(a_reconfiguration_that_fails_is_rarely_tried_again),
      SLURMK8S_TEST(a_create_after_a_reconfiguration_knows_slurmctld),
      SLURMK8S_TEST(a_refused_topology_holds_up_no_other),
      SLURMK8S_TEST(records_that_could_not_be_deleted_are_deleted_later),
  };
  return cmocka_run_group_tests_name("sidecar_reconciler_slurmctld", tests, nullptr, nullptr);
}
