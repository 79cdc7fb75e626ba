// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/update_plan: which nodes are recycled next, and when none is.
#include "sidecar/update_plan.hpp"

#include <functional>
#include <list>

#include "slurm/hostlist.hpp"
#include "slurm/reasons.hpp"
#include "nodeset/template_hash.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using Change = std::function<void(SlurmNode&)>;
using Type = UpdateStrategy::Type;

constexpr const char* kOld = "1-old";
constexpr const char* kNew = "1-new";
constexpr const char* kNone = nullptr;  // no pod

void idle(SlurmNode& node) { node.powered_down = false; }
void busy(SlurmNode& node) { idle(node), node.base = Base::mixed; }
void drained(SlurmNode& node, const char* reason) { node.draining = true, node.reason = reason; }
void waits(SlurmNode& node) { busy(node), drained(node, kReasonUpdate); }  // for its jobs
void powered_down(SlurmNode&) {}
void starting(SlurmNode& node) { idle(node), node.powering_up = true; }
void backing_off(SlurmNode& node) { idle(node), node.base = Base::down, node.reason = "slurm-k8s: ErrImagePull"; }

/** A NodeSet "c" whose template is kNew, and its nodes. */
struct Cluster {
  NodeSet nodeset;
  std::list<SlurmNode> nodes;
  std::vector<UpdateMember> members;
  Pods pods;
  std::int64_t missing = 0;
  bool is_protected = false;
  RollOut before;
  const char* stopped_template = "";
  bool is_first = true;  ///< no plan before

  explicit Cluster(std::int64_t max_unavailable = 1, ScalingMode mode = ScalingMode::on_demand) {
    nodeset.name = "c";
    nodeset.template_hash = kNew;
    nodeset.scaling_mode = mode;
    nodeset.update.max_unavailable = max_unavailable;
  }
  /** The next node, with a pod of a template. */
  Cluster& add(const Change& change, const char* hash, bool taken = false) {
    nodes.push_back(FakeSlurm::cloud_node("c-" + std::to_string(nodes.size())));
    nodes.back().cpus = nodeset.size.cpus;
    nodes.back().real_memory_mib = nodeset.size.real_memory_mib;
    change(nodes.back());
    members.push_back({&nodes.back(), taken});
    if (hash) pods[nodes.back().name] = {.uid = "u", .template_hash = hash};
    return *this;
  }
  SlurmNode& node(std::size_t i) { return *std::next(nodes.begin(), static_cast<std::ptrdiff_t>(i)); }
  /** Plans, and remembers the plan for the next. Returns "recycle c-[0-1]; drain c-2". */
  std::string steps() {
    const UpdatePlan plan = plan_update({.nodeset = nodeset,
                                         .members = members,
                                         .missing = missing,
                                         .pods = pods,
                                         .is_protected = is_protected,
                                         .failure = "ErrImagePull",
                                         .before = is_first ? nullptr : &before,
                                         .stopped_template = stopped_template});
    is_first = false;
    before = plan.roll_out;
    std::map<std::string, std::vector<std::string>> by_kind;
    for (const UpdateStep& step : plan.steps) by_kind[to_string(step.kind)].push_back(step.node->name);
    std::string text;
    for (const auto& [kind, names] : by_kind) {
      text += (text.empty() ? "" : "; ") + kind + " " + compress_hostlist(names);
    }
    return text;
  }
  std::string condition() {
    steps();
    return (before.done ? "True " : "False ") + before.reason + ": " + before.message;
  }
};

// What is done with one node in each state: when it is outdated, and when it isn't.
void takes_what_is_in_service(void**) {
  const struct {
    const char* what;
    Change change;
    const char* outdated;
    const char* updated;
  } cases[] = {
      {"idle", idle, "recycle c-0", ""},
      {"idle, in a reservation", [](SlurmNode& n) { idle(n), n.reserved = true; }, "recycle c-0", ""},
      {"idle, not responding", [](SlurmNode& n) { idle(n), n.not_responding = true; }, "recycle c-0", ""},
      {"busy", busy, "drain c-0", ""},
      {"completing", [](SlurmNode& n) { idle(n), n.completing = true; }, "drain c-0", ""},
      {"busy, waits for its jobs", waits, "", "undrain c-0"},
      {"its jobs are over", [](SlurmNode& n) { idle(n), drained(n, kReasonUpdate); }, "recycle c-0", "undrain c-0"},
      {"recycled", [](SlurmNode& n) { idle(n), drained(n, kReasonUpdate), n.power_down_asked = true; }, "", ""},
      {"powered down, the drain stayed", [](SlurmNode& n) { drained(n, kReasonUpdate); }, "", "undrain c-0"},
      {"drained by an administrator", [](SlurmNode& n) { idle(n), drained(n, "disk"); }, "", ""},
      {"busy, drained by an administrator", [](SlurmNode& n) { busy(n), drained(n, "disk"); }, "", ""},
      {"drained by slurmctld after our drain was over", [](SlurmNode& n) { idle(n), drained(n, kReasonReleased); }, "",
       ""},
      {"so, with an appended Reason",
       [](SlurmNode& n) {
         idle(n), drained(n, (std::string(kReasonUpdate) + " : gres/gpu count reported lower").c_str());
       },
       "", ""},
      {"drained for its Kubernetes node", [](SlurmNode& n) { busy(n), drained(n, "slurm-k8s: kubernetes node m"); }, "",
       ""},
      {"an old Reason", [](SlurmNode& n) { busy(n), n.reason = kReasonUpdate; }, "drain c-0", ""},
      {"powered down, its pod is going", powered_down, "", ""},
      {"asked up", [](SlurmNode& n) { n.power_up_asked = true; }, "", ""},
      {"starting", starting, "", ""},
      {"starting for a job", [](SlurmNode& n) { starting(n), n.base = Base::allocated; }, "", ""},
      {"powering down", [](SlurmNode& n) { idle(n), n.powering_down = true; }, "", ""},
      {"backing off", backing_off, "", ""},
      {"down by an administrator", [](SlurmNode& n) { idle(n), n.base = Base::down, n.reason = "disk"; }, "", ""},
      {"unknown", [](SlurmNode& n) { idle(n), n.base = Base::unknown; }, "", ""},
  };
  for (const auto& c : cases) {
    for (const char* hash : {kOld, kNew, ""}) {
      Cluster cluster;
      const std::string steps = cluster.add(c.change, hash).steps();
      const char* expected = hash == kOld ? c.outdated : c.updated;
      if (steps != expected) fail_msg("%s, \"%s\": \"%s\" instead of \"%s\"", c.what, hash, steps.c_str(), expected);
      Cluster taken;
      if (!taken.add(c.change, hash, true).steps().empty()) fail_msg("%s: not left to others", c.what);
      Cluster never;
      never.nodeset.update.type = Type::on_delete;
      const bool is_undrained = never.add(c.change, hash).steps().starts_with("undrain");
      const bool is_waiting = SlurmNode(never.node(0)).draining && never.node(0).reason == kReasonUpdate;
      if (is_undrained != (is_waiting && !never.node(0).going_down())) fail_msg("%s: OnDelete", c.what);
    }
  }
}

void takes_nodes_of_another_size(void**) {
  Cluster cluster;
  cluster.add(idle, kNew);
  cluster.node(0).cpus++;
  assert_text(cluster.steps(), "recycle c-0");
  cluster.pods.clear();
  cluster.node(0).powered_down = true;
  assert_text(cluster.steps(), "");
}

void takes_idle_ones_first_and_not_too_many(void**) {
  Cluster cluster(3);
  cluster.add(busy, kOld).add(busy, kOld).add(idle, kOld).add(busy, kOld).add(idle, kOld).add(idle, kNew);
  assert_text(cluster.steps(), "drain c-0; recycle c-[2,4]");
  cluster.nodeset.update.max_unavailable = 1;
  assert_text(cluster.steps(), "recycle c-2");
  cluster.nodeset.update.max_unavailable = 10;
  assert_text(cluster.steps(), "drain c-[0-1,3]; recycle c-[2,4]");
}

// One may be out of service, and c-1 could be the one: not while c-0 is out.
void counts_what_is_out_of_service(void**) {
  const auto of_update = [](const Change& change) {
    return [change](SlurmNode& n) { change(n), n.reason = kReasonUpdate; };
  };
  const auto going_down = [](SlurmNode& n) { idle(n), n.powering_down = true; };
  const struct {
    const char* what;
    Change change;
    const char* hash;
    bool counts;         ///< on demand
    bool counts_always;  ///< scalingMode Always
  } cases[] = {
      {"up", idle, kNew, false, false},
      {"waits for its jobs", waits, kOld, true, true},
      {"recycled", of_update(going_down), kOld, true, true},
      {"recycled, its pod is gone", of_update(going_down), kNone, true, true},
      {"suspended", going_down, kNone, false, true},
      {"powered down", powered_down, kNone, false, true},
      {"powered down, recycled once", of_update(powered_down), kNone, false, true},
      {"starting", starting, kNew, false, true},
      {"backing off", backing_off, kNew, true, true},
      {"protected", [](SlurmNode& n) { drained(n, "slurm-k8s: protected: x"); }, kNone, false, true},
      {"drained by an administrator", [](SlurmNode& n) { idle(n), drained(n, "disk"); }, kOld, false, false},
      {"drained by slurmctld after our drain was over", [](SlurmNode& n) { drained(n, kReasonReleased); }, kNone, false,
       false},
      {"drained when it was powered down", [](SlurmNode& n) { drained(n, "disk"); }, kNone, false, false},
      {"down by an administrator", [](SlurmNode& n) { idle(n), n.base = Base::down, n.reason = "disk"; }, kOld, false,
       false},
  };
  for (const auto& c : cases) {
    for (const ScalingMode mode : {ScalingMode::on_demand, ScalingMode::always}) {
      Cluster cluster(1, mode);
      const bool counts = mode == ScalingMode::always ? c.counts_always : c.counts;
      const std::string steps = cluster.add(c.change, c.hash).add(idle, kOld).steps();
      if (steps != (counts ? "" : "recycle c-1")) fail_msg("%s: \"%s\"", c.what, steps.c_str());
    }
  }
}

void counts_nodes_without_a_record(void**) {
  for (const ScalingMode mode : {ScalingMode::on_demand, ScalingMode::always}) {
    Cluster cluster(2, mode);
    cluster.missing = 1;
    const bool always = mode == ScalingMode::always;
    assert_text(cluster.add(idle, kOld).add(idle, kOld).steps(), always ? "recycle c-0" : "recycle c-[0-1]");
  }
}

void heeds_maintenance_reservations(void**) {
  Cluster cluster(8);
  cluster.nodeset.update.type = Type::scheduled;
  cluster.add(idle, kOld).add(busy, kOld).add(idle, kOld).add(busy, kOld);
  cluster.node(2).reserved = true;  // but not for maintenance
  assert_text(cluster.steps(), "");
  assert_text(cluster.condition(), "False WaitingForMaintenance: c-[0-3] (4): updated in a maintenance reservation");
  for (const std::size_t i : {0u, 1u}) cluster.node(i).reserved = cluster.node(i).maintenance = true;
  assert_text(cluster.steps(), "drain c-1; recycle c-0");
  drained(cluster.node(1), kReasonUpdate);
  assert_text(cluster.steps(), "recycle c-0");
  cluster.node(1).maintenance = false;  // it is over before the job
  assert_text(cluster.steps(), "recycle c-0; undrain c-1");
}

// The first one fails; a second that was under way comes up.
void stops_when_a_node_fails(void**) {
  for (const ScalingMode mode : {ScalingMode::on_demand, ScalingMode::always}) {
    Cluster cluster(4, mode);
    cluster.add(starting, kNew).add(starting, kNew).add(waits, kOld).add(idle, kOld);
    cluster.nodeset.update.max_unavailable = 3;
    cluster.steps();
    cluster.nodeset.update.max_unavailable = 4;
    backing_off(cluster.node(0));
    cluster.pods.erase("c-0");
    assert_text(cluster.steps(), "undrain c-2");
    assert_text(cluster.condition(),
                "False Stopped: no node has come up with the template since one failed to: ErrImagePull");
    cluster.node(0) = FakeSlurm::cloud_node("c-0");  // the hold is over: that alone says nothing
    cluster.node(0).cpus = cluster.nodeset.size.cpus;
    assert_text(cluster.steps(), "undrain c-2");
    idle(cluster.node(1)), cluster.node(1).powering_up = false;
    assert_text(cluster.steps(), "recycle c-3");
  }
}

void a_failure_after_a_success_stops_too(void**) {
  Cluster cluster(4);
  cluster.add(idle, kNew).add(starting, kNew).add(idle, kOld);
  cluster.nodeset.update.max_unavailable = 0;
  cluster.steps();
  cluster.nodeset.update.max_unavailable = 4;
  backing_off(cluster.node(1));
  assert_text(cluster.steps(), "");
  assert_true(cluster.before.stopped);
}

// Slurm set it DOWN since its slurmd doesn't answer: its Reason is what we had given it.
void a_node_that_is_lost_is_no_failure(void**) {
  Cluster cluster(4);
  cluster.add(idle, kNew).add(idle, kOld);
  cluster.steps();
  cluster.node(0).base = Base::down, cluster.node(0).reason = kReasonUpdate;
  assert_text(cluster.steps(), "recycle c-1");
}

// What failed with the former template, before the new one came, says nothing about it.
void starts_afresh_with_each_template(void**) {
  Cluster cluster(4);
  cluster.add(idle, kOld).add(backing_off, kNone);
  assert_text(cluster.steps(), "recycle c-0");
  cluster.before.stopped = true;
  assert_text(cluster.steps(), "");
  cluster.nodeset.template_hash = "1-newer";
  assert_text(cluster.steps(), "recycle c-0");
  cluster.nodeset.template_hash = kOld;  // as it was: c-0 is of it
  assert_text(cluster.steps(), "");
  assert_text(cluster.condition(), "True TemplateInUse: no node has a previous template");
}

void compares_pods_with_their_own_variant(void**) {
  Cluster cluster(4);
  cluster.nodeset.variants["v1"].template_hash = "1-v1";
  cluster.add(idle, kNew).add(idle, "1-v1").add(idle, "1-v0").add(idle, "1-v1");
  for (const char* name : {"c-1", "c-2"}) cluster.pods[name].variant = "v1";
  cluster.pods["c-3"].variant = "gone";
  assert_text(cluster.steps(), "recycle c-[2-3]");
  assert_int_equal(cluster.before.updated, 2);
  assert_text(cluster.before.template_hash, revision_of(cluster.nodeset));
  // Another patch of a variant is another roll-out.
  cluster.before.stopped = true;
  assert_text(cluster.steps(), "");
  cluster.nodeset.variants["v1"].template_hash = "1-v2";
  assert_text(cluster.steps(), "recycle c-[1-3]");
}

void remembers_over_a_restart(void**) {
  Cluster cluster(4);
  cluster.add(idle, kOld).add(powered_down, kNone).add(idle, kNew);
  cluster.stopped_template = kNew;
  assert_text(cluster.steps(), "");  // c-2 isn't new: it is what was there
  assert_true(cluster.before.stopped);
  idle(cluster.node(1));
  cluster.pods["c-1"] = {.uid = "u", .template_hash = kNew};
  assert_text(cluster.steps(), "recycle c-0");
  cluster.is_first = true;
  cluster.stopped_template = kOld;
  assert_text(cluster.steps(), "recycle c-0");
}

void takes_none_of_a_protected_nodeset(void**) {
  Cluster cluster(4);
  cluster.is_protected = true;
  cluster.add(idle, kOld).add(waits, kOld);
  assert_text(cluster.steps(), "undrain c-1");
  assert_text(cluster.condition(),
              "False Protected: c-[0-1] (2): not updated while the NodeSet is protected: ErrImagePull");
}

void counts_and_describes(void**) {
  Cluster cluster(2);
  cluster.add(idle, kOld).add(busy, kOld).add(idle, kNew).add(powered_down, kNone).add(idle, "");
  assert_text(cluster.condition(),
              "False WaitingForJobs: c-[0-1] (2): to be updated; recycled when their jobs are over: c-1 (1)");
  assert_int_equal(cluster.before.updated, 3);
  assert_text(cluster.before.template_hash, kNew);
  cluster.nodeset.update.max_unavailable = 1;
  assert_text(cluster.condition(), "False RollingOut: c-[0-1] (2): to be updated");
  cluster.nodeset.update.type = Type::on_delete;
  assert_text(cluster.condition(), "False OnDelete: c-[0-1] (2): updated when their pods go");
  cluster.pods["c-0"].template_hash = cluster.pods["c-1"].template_hash = kNew;
  assert_text(cluster.condition(), "True TemplateInUse: no node has a previous template");
  cluster.nodeset.scaling_mode = ScalingMode::always;
  assert_text(cluster.condition(), "False PoweringUp: c-3 (1): not up yet");
  cluster.pods["c-0"].template_hash = kOld;
  cluster.nodeset.update.type = Type::rolling;
  assert_text(cluster.condition(), "False WaitingForNodes: c-0 (1): to be updated when others are up: c-3 (1)");
  cluster.pods["c-0"].template_hash = kNew;
  drained(cluster.node(3), "disk");
  assert_text(cluster.condition(), "True TemplateInUse: no node has a previous template");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_what_is_in_service),
      SLURMK8S_TEST(takes_nodes_of_another_size),
      SLURMK8S_TEST(takes_idle_ones_first_and_not_too_many),
      SLURMK8S_TEST(counts_what_is_out_of_service),
      SLURMK8S_TEST(counts_nodes_without_a_record),
      SLURMK8S_TEST(heeds_maintenance_reservations),
      SLURMK8S_TEST(stops_when_a_node_fails),
      SLURMK8S_TEST(a_failure_after_a_success_stops_too),
      SLURMK8S_TEST(a_node_that_is_lost_is_no_failure),
      SLURMK8S_TEST(starts_afresh_with_each_template),
      SLURMK8S_TEST(compares_pods_with_their_own_variant),
      SLURMK8S_TEST(remembers_over_a_restart),
      SLURMK8S_TEST(takes_none_of_a_protected_nodeset),
      SLURMK8S_TEST(counts_and_describes),
  };
  return cmocka_run_group_tests_name("sidecar_update_plan", tests, nullptr, nullptr);
}
