// SPDX-License-Identifier: GPL-2.0-or-later
// The plan: every rule that keeps a job or a pod safe, as a row.
#include <string>
#include <vector>

#include "core/plan.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;
using Kind = Action::Kind;

namespace {

const TimePoint kNow = TimePoint{} + std::chrono::hours(10);

Pod make_pod(const char* uid, const char* request) {
  Pod pod;
  pod.uid = uid;
  pod.request = request;
  return pod;
}

Pod deleting(Pod pod) {
  pod.deleting = true;
  return pod;
}

Pod ended(Pod pod, const char* why) {
  pod.ended = why;
  return pod;
}

Node make_node(Node::Want want, const char* request, std::optional<Pod> pod) {
  Node node;
  node.want = want;
  node.request = request;
  node.since = node.hindered = kNow;
  node.pod = std::move(pod);
  return node;
}

Node with_pod_seen(Node node) {
  node.had_pod = true;
  return node;
}

Node busy(Node node) {
  node.busy = true;
  return node;
}

Node backing_off(Node node) {
  node.not_before = kNow + std::chrono::seconds(1);
  return node;
}

Node missed(Node node, std::chrono::seconds ago) {
  node.missed = kNow - ago;
  return node;
}

Node since(Node node, std::chrono::seconds ago) {
  node.since = kNow - ago;
  return node;
}

using Hint = Hindrance::Kind;

Pod hindered(Pod pod, Hint kind) {
  pod.hindrance = {kind, "why"};
  return pod;
}

Node hindered_since(Node node, std::chrono::seconds ago) {
  node.hindered = kNow - ago;
  return node;
}

void plans_each_node_alone(void**) {
  const auto up = Node::Want::up;
  const auto down = Node::Want::down;
  const Pod current = make_pod("u1", "r1");
  const Pod older = make_pod("u0", "r0");
  const struct {
    const char* name;
    Node node;
    bool owned;
    Kind kind;
    const char* uid;     // of a removal
    const char* reason;  // part of a failure's reason
  } cases[] = {
      {"nobody asked: a pod is left alone", make_node(Node::Want::unknown, "", current), true, Kind::none, "", ""},
      {"wanted up, no pod", make_node(up, "r1", {}), true, Kind::create, "", ""},
      {"wanted up, its pod is there", make_node(up, "r1", current), true, Kind::none, "", ""},
      {"a pod of an older request is replaced", make_node(up, "r1", older), true, Kind::remove, "u0", ""},
      {"an older pod that is being deleted is waited for", make_node(up, "r1", deleting(older)), true, Kind::none, "",
       ""},
      {"a pod that was taken over is current whatever its request", make_node(up, "", older), true, Kind::none, "", ""},
      {"its pod was deleted by somebody", with_pod_seen(make_node(up, "r1", {})), true, Kind::fail, "", "pod is gone"},
      {"its pod is being deleted by somebody: not lost yet", with_pod_seen(make_node(up, "r1", deleting(current))),
       true, Kind::none, "", ""},
      {"its pod ended", make_node(up, "r1", ended(current, "OOMKilled")), true, Kind::fail, "", "OOMKilled"},
      {"an older pod that ended is no failure of this request", make_node(up, "r1", ended(older, "Error")), true,
       Kind::remove, "u0", ""},
      {"its containers are being made: that is nobody's fault", make_node(up, "r1", hindered(current, Hint::creating)), true,
       Kind::none, "", ""},
      {"kubelet may pull the image at the next try", make_node(up, "r1", hindered(current, Hint::failing)), true, Kind::wait,
       "", ""},
      {"kubelet can't start it", hindered_since(make_node(up, "r1", hindered(current, Hint::failing)), kStartGrace), true,
       Kind::fail, "", "why"},
      {"a machine may be on its way", hindered_since(make_node(up, "r1", hindered(current, Hint::unschedulable)), 239s), true,
       Kind::wait, "", ""},
      {"no machine came", hindered_since(make_node(up, "r1", hindered(current, Hint::unschedulable)), 240s), true, Kind::fail,
       "", "why"},
      {"an older pod that can't start is replaced", hindered_since(make_node(up, "r1", hindered(older, Hint::failing)), 60s),
       true, Kind::remove, "u0", ""},
      {"no nodeset owns it, but its nodeset may be on its way", make_node(up, "r1", {}), false, Kind::wait, "", ""},
      {"no nodeset owns it for good", since(make_node(up, "r1", {}), kOwnerGrace), false, Kind::fail, "",
       "no nodeset"},
      {"a nodeset that became wrong doesn't touch a running pod", make_node(up, "r1", current), false, Kind::none, "",
       ""},
      {"wanted down with a pod", make_node(down, "", current), true, Kind::remove, "u1", ""},
      {"wanted down, no nodeset any more: the pod still goes", make_node(down, "", current), false, Kind::remove, "u1",
       ""},
      {"wanted down, already going", make_node(down, "", deleting(current)), true, Kind::none, "", ""},
      {"wanted down, no pod", make_node(down, "", {}), true, Kind::none, "", ""},
      {"a request is under way", busy(make_node(up, "r1", {})), true, Kind::none, "", ""},
      {"a removal is under way", busy(make_node(down, "", current)), true, Kind::none, "", ""},
      {"backing off", backing_off(make_node(up, "r1", {})), true, Kind::wait, "", ""},
  };
  const NodeSet nodeset;
  for (const auto& row : cases) {
    const Owner owner = row.owned ? Owner(&nodeset) : Owner(Error(Errc::not_found, "no nodeset owns it"));
    const Action action = plan_node(row.node, owner, kNow);
    if (action.kind != row.kind || action.uid != row.uid ||
        action.reason.find(row.reason) == std::string::npos || action.reason.empty() != !*row.reason) {
      fail_msg("%s: kind %d uid '%s' reason '%s'", row.name, static_cast<int>(action.kind), action.uid.c_str(),
               action.reason.c_str());
    }
    if (action.kind == Kind::wait && action.at <= kNow) fail_msg("%s: waits for the past", row.name);
  }
}

SlurmNode record(std::initializer_list<bool SlurmNode::*> flags, bool registered = false) {
  SlurmNode node;
  node.base = SlurmNode::Base::idle;
  for (const auto flag : flags) node.*flag = true;
  if (registered) node.boot_time = std::chrono::system_clock::time_point(std::chrono::seconds(1));
  return node;
}

void reconciles_with_slurm(void**) {
  const auto unknown = Node::Want::unknown;
  const auto up = Node::Want::up;
  const auto down = Node::Want::down;
  const Pod pod = make_pod("u1", "r1");
  const SlurmNode powered_down = record({&SlurmNode::powered_down});
  const SlurmNode powering_down = record({&SlurmNode::powering_down}, true);
  const SlurmNode powering_up = record({&SlurmNode::powering_up, &SlurmNode::not_responding});
  const SlurmNode usable = record({}, true);
  const SlurmNode never_registered = record({});
  SlurmNode allocated = record({});
  allocated.base = SlurmNode::Base::mixed;
  const std::chrono::seconds old = kReconcileGrace + std::chrono::seconds(1);
  const struct {
    const char* name;
    Node node;
    const SlurmNode* record;
    bool first;
    Node::Want want;
    const char* request;
    bool changed;
    bool lost;
  } cases[] = {
      {"after a start: slurm's state is older than the world, its pod goes", make_node(unknown, "", pod),
       &powered_down, true, down, "", true, false},
      {"after a start: suspended, its pod still there", make_node(unknown, "", pod), &powering_down, true, down, "", true,
       false},
      {"after a start: powering up with its pod", make_node(unknown, "", pod), &powering_up, true, up, "r1", true, false},
      {"after a start: powering up, the pod was never made", make_node(unknown, "", {}), &powering_up, true, up, "new", true,
       false},
      {"after a start: up with its pod", make_node(unknown, "", pod), &usable, true, up, "r1", true, false},
      {"after a start: up, its pod is gone", make_node(unknown, "", {}), &usable, true, unknown, "", false, true},
      {"after a restart of both: a node with a job, its pod is gone", make_node(unknown, "", {}), &allocated, true,
       unknown, "", false, true},
      {"a record that never registered has lost nothing", make_node(unknown, "", {}), &never_registered, false, unknown, "",
       false, false},
      {"a pod that slurm knows no node for", make_node(unknown, "", pod), nullptr, false, down, "", true, false},
      {"a fresh resume is newer than the record", make_node(up, "r1", {}), &powered_down, false, up, "r1", false, false},
      {"a resume that slurm gave up (ResumeTimeout)", since(make_node(up, "r1", pod), old), &powered_down, false, down, "",
       true, false},
      {"wanted up and up", since(make_node(up, "r1", pod), old), &usable, false, up, "r1", false, false},
      {"wanted up, still powering up", since(make_node(up, "r1", {}), old), &powering_up, false, up, "r1", false, false},
      {"a fresh suspend is newer than the record", make_node(down, "", pod), &usable, false, down, "", false, false},
      {"a resume of a suspended node that never reached us", missed(since(make_node(down, "", {}), old), old),
       &powering_up, false, up, "new", true, false},
      {"a resume that never reached us waits for the old pod to go", since(make_node(down, "", pod), old),
       &powering_up, false, down, "", false, false},
      {"a resume may still be on its way", make_node(unknown, "", {}), &powering_up, false, unknown, "", false, false},
      {"slurm has waited for a resume long enough", missed(make_node(unknown, "", {}), kReconcileGrace), &powering_up,
       false, up, "new", true, false},
      {"nothing is decided while a request is under way", busy(since(make_node(up, "r1", pod), old)), &powered_down,
       false, up, "r1", false, false},
  };
  for (const auto& row : cases) {
    Node node = row.node;
    const Reconciled result = reconcile_node(node, row.record, {kNow, row.first, "new"});
    if (node.want != row.want || node.request != row.request || result.changed != row.changed ||
        result.lost != row.lost) {
      fail_msg("%s: want %d request '%s' changed %d lost %d", row.name, static_cast<int>(node.want),
               node.request.c_str(), result.changed, result.lost);
    }
  }
}

void judges_failures_on_a_fresh_record(void**) {
  const SlurmNode powered_down = record({&SlurmNode::powered_down});
  const SlurmNode powering_down = record({&SlurmNode::powering_down});
  const SlurmNode asked_down = record({&SlurmNode::power_down_asked});
  const SlurmNode powering_up = record({&SlurmNode::powering_up});
  const SlurmNode usable = record({}, true);
  const struct {
    const char* name;
    const SlurmNode* record;
    bool vanished;
    Verdict verdict;
  } cases[] = {
      {"slurm has no such node", nullptr, true, Verdict::forget},
      {"powered down meanwhile", &powered_down, true, Verdict::forget},
      {"being suspended meanwhile", &powering_down, false, Verdict::forget},
      {"deleted before slurmd registered", &powering_up, true, Verdict::recreate},
      {"ended before slurmd registered", &powering_up, false, Verdict::hold},
      {"power down was asked for meanwhile", &asked_down, false, Verdict::forget},
      {"deleted under a node in use", &usable, true, Verdict::give_up},
      {"ended under a node in use", &usable, false, Verdict::give_up},
  };
  for (const auto& row : cases) {
    if (judge_failure(row.record, row.vanished) != row.verdict) fail_msg("%s", row.name);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(plans_each_node_alone),
      SLURMK8S_TEST(reconciles_with_slurm),
      SLURMK8S_TEST(judges_failures_on_a_fresh_record),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
