// SPDX-License-Identifier: GPL-2.0-or-later
// The plan: every rule that keeps a job or a pod safe, as a row.
#include <string>
#include <vector>

#include "engine/plan.hpp"
#include "slurm/node_state.hpp"
#include "slurm/reasons.hpp"

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

Pod on_machine(Pod pod) {
  pod.grace = 5s;
  pod.machine = "m1";
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
  node.since = node.problem_since = kNow;
  node.pod = std::move(pod);
  node.note_deletion(node.pod && node.pod->deleting, kNow);
  return node;
}

/** Its pod is being deleted for so long. */
Node deleting_since(Node node, std::chrono::seconds ago) {
  node.deleting_since = kNow - ago;
  return node;
}

Node told_stuck(Node node) {
  node.told_stuck = true;
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
  node.waiting_unasked_since = kNow - ago;
  return node;
}

Node needs_get(Node node) {
  node.needs_get = true;
  return node;
}

Node since(Node node, std::chrono::seconds ago) {
  node.since = kNow - ago;
  return node;
}

Node with_older_pod_gone(Node node) {
  node.forget_pod();
  return node;
}

using Hint = StartProblem::Kind;

Pod with_problem(Pod pod, Hint kind) {
  pod.start_problem = {kind, "why"};
  return pod;
}

Node with_problem_since(Node node, std::chrono::seconds ago) {
  node.problem_since = kNow - ago;
  return node;
}

void plans_each_node_alone(void**) {
  const auto up = Node::Want::up;
  const auto down = Node::Want::down;
  const Pod current = make_pod("u1", "r1");
  const Pod older = make_pod("u0", "r0");
  const Pod going = deleting(on_machine(current));
  const Pod older_going = deleting(on_machine(older));
  const struct {
    const char* name;
    Node node;
    bool owned;
    Kind kind;
    const char* uid;     // of a removal, or of a pod that doesn't go
    const char* reason;  // part of a failure's reason
  } cases[] = {
      {"nobody asked: a pod is left alone", make_node(Node::Want::unknown, "", current), true, Kind::none, "", ""},
      {"slurm takes it for up, and no pod is known: it is looked for",
       needs_get(make_node(Node::Want::unknown, "", {})), true, Kind::look, "", ""},
      {"nobody asked, and nobody misses its pod", make_node(Node::Want::unknown, "", {}), true, Kind::none, "", ""},
      {"a pod that the watch should have shown is looked at", needs_get(make_node(up, "r1", current)), true, Kind::look,
       "", ""},
      {"its pod is being looked for", busy(needs_get(make_node(Node::Want::unknown, "", {}))), true, Kind::none, "",
       ""},
      {"wanted up, no pod", make_node(up, "r1", {}), true, Kind::create, "", ""},
      {"wanted up, its pod is there", make_node(up, "r1", current), true, Kind::none, "", ""},
      {"a pod of an older request may serve", make_node(up, "r1", older), true, Kind::ask, "", ""},
      {"a pod of an older request may have served", with_older_pod_gone(make_node(up, "r1", older)), true, Kind::ask,
       "", ""},
      {"a pod of this request went before slurmd registered", with_older_pod_gone(make_node(up, "r1", current)), true,
       Kind::create, "", ""},
      {"an older pod that is being deleted is waited for", make_node(up, "r1", deleting(older)), true, Kind::wait, "",
       ""},
      {"until its grace and a margin are over", deleting_since(make_node(up, "r1", older_going), 14s), true, Kind::wait,
       "", ""},
      {"an older pod that doesn't go", deleting_since(make_node(up, "r1", older_going), 15s), true, Kind::stuck, "u0",
       "still terminating on kubernetes node m1"},
      {"so, and slurmctld knows", told_stuck(deleting_since(make_node(up, "r1", older_going), 15s)), true, Kind::none,
       "", ""},
      {"so, and is asked", busy(deleting_since(make_node(up, "r1", older_going), 15s)), true, Kind::none, "", ""},
      {"a pod that we delete to make it again doesn't go", deleting_since(make_node(up, "r1", going), 15s), true,
       Kind::stuck, "u1", "m1"},
      {"the pod of a node in use doesn't go", with_pod_seen(deleting_since(make_node(up, "r1", going), 15s)), true,
       Kind::stuck, "u1", "m1"},
      {"so, and it has ended: its finalizer keeps it",
       with_pod_seen(deleting_since(make_node(up, "r1", ended(going, "x")), 15s)), true, Kind::fail, "", "x"},
      {"wanted down, and it doesn't go", deleting_since(make_node(down, "", going), 15s), true, Kind::stuck, "u1",
       "m1"},
      {"wanted down, it doesn't go, and slurmctld knows", told_stuck(deleting_since(make_node(down, "", going), 15s)),
       true, Kind::none, "", ""},
      {"a pod that was taken over is current whatever its request", make_node(up, "", older), true, Kind::none, "", ""},
      {"its pod was deleted by somebody", with_pod_seen(make_node(up, "r1", {})), true, Kind::fail, "", "pod is gone"},
      {"its pod is being deleted by somebody: not lost yet", with_pod_seen(make_node(up, "r1", deleting(current))),
       true, Kind::wait, "", ""},
      {"its pod is deleted by us, to be made anew", make_node(up, "r1", deleting(ended(current, "exit code 0"))), true,
       Kind::wait, "", ""},
      {"its pod is deleted by somebody, and ended",
       with_pod_seen(make_node(up, "r1", deleting(ended(current, "Error")))), true, Kind::fail, "",
       "pod deleted: Error"},
      {"its pod ended", make_node(up, "r1", ended(current, "OOMKilled")), true, Kind::fail, "", "pod ended: OOMKilled"},
      {"its pod ended since its NodeSet was deleted",
       with_pod_seen(make_node(up, "r1", deleting(ended(current, "Error")))), false, Kind::fail, "",
       "pod ended: no nodeset"},
      {"an older pod that ended is no failure of this request", make_node(up, "r1", ended(older, "Error")), true,
       Kind::ask, "", ""},
      {"its containers are being made: that is nobody's fault",
       make_node(up, "r1", with_problem(current, Hint::creating)), true, Kind::none, "", ""},
      {"kubelet may pull the image at the next try", make_node(up, "r1", with_problem(current, Hint::failing)), true,
       Kind::wait, "", ""},
      {"kubelet can't start it",
       with_problem_since(make_node(up, "r1", with_problem(current, Hint::failing)), kStartGrace), true, Kind::fail, "",
       "why"},
      {"a machine may be on its way",
       with_problem_since(make_node(up, "r1", with_problem(current, Hint::unschedulable)), 239s), true, Kind::wait, "",
       ""},
      {"no machine came", with_problem_since(make_node(up, "r1", with_problem(current, Hint::unschedulable)), 240s),
       true, Kind::fail, "", "why"},
      {"an older pod that can't start is none of ours",
       with_problem_since(make_node(up, "r1", with_problem(older, Hint::failing)), 60s), true, Kind::ask, "", ""},
      {"no nodeset owns it, but its nodeset may be on its way", make_node(up, "r1", {}), false, Kind::wait, "", ""},
      {"no nodeset owns it for good", since(make_node(up, "r1", {}), kOwnerGrace), false, Kind::fail, "", "no nodeset"},
      {"a nodeset that became wrong doesn't touch a running pod", make_node(up, "r1", current), false, Kind::none, "",
       ""},
      {"wanted down with a pod", make_node(down, "", current), true, Kind::remove, "u1", ""},
      {"wanted down, no nodeset any more: the pod still goes", make_node(down, "", current), false, Kind::remove, "u1",
       ""},
      {"wanted down, already going", make_node(down, "", deleting(current)), true, Kind::wait, "", ""},
      {"wanted down, no pod", make_node(down, "", {}), true, Kind::none, "", ""},
      {"a request is under way", busy(make_node(up, "r1", {})), true, Kind::none, "", ""},
      {"a removal is under way", busy(make_node(down, "", current)), true, Kind::none, "", ""},
      {"backing off", backing_off(make_node(up, "r1", {})), true, Kind::wait, "", ""},
  };
  const NodeSet nodeset;
  for (const auto& row : cases) {
    const Owner owner = row.owned ? Owner(&nodeset) : Owner(Error(Errc::not_found, "no nodeset owns it"));
    const Action action = plan_node(row.node, owner, kNow);
    if (action.kind != row.kind || action.uid != row.uid || action.reason.find(row.reason) == std::string::npos ||
        action.reason.empty() != !*row.reason) {
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

Node seen(Node node, std::chrono::seconds ago) {
  node.seen = kNow - ago;
  return node;
}

SlurmNode with_address(SlurmNode node) {
  node.name = "compute-0";
  node.address = "10.1.2.3";
  return node;
}

SlurmNode with_base(SlurmNode node, SlurmNode::Base base, const char* reason = "") {
  node.base = base;
  node.reason = reason;
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
  const SlurmNode configured = with_base(powering_up, SlurmNode::Base::allocated);
  const SlurmNode allocated_off = with_base(powered_down, SlurmNode::Base::allocated);
  const SlurmNode usable = record({}, true);
  const SlurmNode never_registered = record({});
  const SlurmNode registered_before = with_address(record({}));
  const SlurmNode allocated = with_base(record({}), SlurmNode::Base::mixed);
  const SlurmNode completing = record({&SlurmNode::completing});
  const SlurmNode asked_down = with_base(record({&SlurmNode::power_down_asked}, true), SlurmNode::Base::mixed);
  const SlurmNode silent = record({&SlurmNode::not_responding});
  const SlurmNode silent_down = with_base(silent, SlurmNode::Base::down, "Not responding");
  SlurmNode held = with_base(powering_up, SlurmNode::Base::down, "slurm-k8s: exceeded quota");
  held.cloud = true;
  SlurmNode given_up = held;
  given_up.power_down_asked = true;
  const SlurmNode timed_out = with_base(powered_down, SlurmNode::Base::down, "ResumeTimeout reached");
  const std::chrono::seconds old = kReconcileGrace + 1s;
  enum class Says { nothing, needs_get, waits, changed };
  const struct {
    const char* name;
    Node node;
    const SlurmNode* record;
    bool first;
    Node::Want want;
    const char* request;
    Says says;
  } cases[] = {
      {"after a start: slurm's state is older than the world, its pod goes", make_node(unknown, "", pod), &powered_down,
       true, down, "", Says::changed},
      {"after a start: suspended, its pod still there", make_node(unknown, "", pod), &powering_down, true, down, "",
       Says::changed},
      {"after a start: suspended, its pod is gone", make_node(unknown, "", {}), &powering_down, true, down, "",
       Says::changed},
      {"after a start: given up by ResumeTimeout, its pod goes", make_node(unknown, "", pod), &timed_out, true, down,
       "", Says::changed},
      {"after a start: powering up with its pod", make_node(unknown, "", pod), &powering_up, true, up, "r1",
       Says::changed},
      {"after a start: powering up, the pod is of before and on its way out", make_node(unknown, "", deleting(pod)),
       &powering_up, true, up, "new", Says::changed},
      {"after a start: powering up, the pod was never made", make_node(unknown, "", {}), &powering_up, true, up, "new",
       Says::changed},
      {"after a start: up with its pod", make_node(unknown, "", pod), &usable, true, up, "r1", Says::changed},
      {"after a start: up, its pod has ended", make_node(unknown, "", ended(pod, "Evicted")), &usable, true, up, "r1",
       Says::changed},
      {"after a start: up, its pod is going", make_node(unknown, "", deleting(pod)), &usable, true, up, "r1",
       Says::changed},
      {"after a start: up, its pod is gone", make_node(unknown, "", {}), &usable, true, unknown, "", Says::needs_get},
      {"after a restart of both: a node with a job, its pod is gone", make_node(unknown, "", {}), &allocated, true,
       unknown, "", Says::needs_get},
      {"after a restart of both: an idle node that had registered, its pod is gone", make_node(unknown, "", {}),
       &registered_before, true, unknown, "", Says::needs_get},
      {"a job is being completed, the pod is gone", make_node(unknown, "", {}), &completing, false, unknown, "",
       Says::needs_get},
      {"slurmd doesn't answer, and has no pod", make_node(unknown, "", {}), &silent, false, unknown, "",
       Says::needs_get},
      {"slurmctld set it DOWN since slurmd doesn't answer, and it has no pod", make_node(unknown, "", {}), &silent_down,
       false, unknown, "", Says::needs_get},
      {"slurmd doesn't answer, but its pod is there: slurmctld's to decide", since(make_node(up, "r1", pod), old),
       &silent, false, up, "r1", Says::nothing},
      {"a record that never registered has lost nothing", make_node(unknown, "", {}), &never_registered, false, unknown,
       "", Says::nothing},
      {"a pod that slurm knows no node for", make_node(unknown, "", pod), nullptr, false, down, "", Says::changed},
      {"a pod that came while slurmctld was being asked", seen(make_node(unknown, "", pod), 1s), &powered_down, false,
       unknown, "", Says::nothing},
      {"a fresh resume is newer than the record", make_node(up, "r1", {}), &powered_down, false, up, "r1",
       Says::nothing},
      {"a fresh resume with its pod, of a node with a job", make_node(up, "r1", pod), &allocated_off, false, up, "r1",
       Says::nothing},
      {"a job is being configured, its pod is on its way", since(make_node(up, "r1", {}), old), &configured, false, up,
       "r1", Says::nothing},
      {"a job is being configured, its pod is there", since(make_node(up, "r1", pod), old), &configured, false, up,
       "r1", Says::nothing},
      {"a resume that slurm gave up (ResumeTimeout)", since(make_node(up, "r1", pod), old), &timed_out, false, down, "",
       Says::changed},
      {"a suspend that never reached us", since(make_node(up, "r1", pod), old), &powering_down, false, down, "",
       Says::changed},
      {"asked to power down when its job is over", since(make_node(up, "r1", pod), old), &asked_down, false, up, "r1",
       Says::nothing},
      {"after a start: asked to power down when its job is over", make_node(unknown, "", pod), &asked_down, true, up,
       "r1", Says::changed},
      {"after a start: so, and its pod is gone", make_node(unknown, "", {}), &asked_down, true, unknown, "",
       Says::needs_get},
      {"after a start: set DOWN while it was powering up, and asked to power down", make_node(unknown, "", {}),
       &given_up, true, unknown, "", Says::nothing},
      {"wanted up and up", since(make_node(up, "r1", pod), old), &usable, false, up, "r1", Says::nothing},
      {"wanted up, still powering up", since(make_node(up, "r1", {}), old), &powering_up, false, up, "r1",
       Says::nothing},
      {"a fresh suspend is newer than the record", make_node(down, "", pod), &usable, false, down, "", Says::nothing},
      {"suspended, and still so", since(make_node(down, "", pod), old), &powering_down, false, down, "", Says::nothing},
      {"a resume of a suspended node that never reached us", missed(since(make_node(down, "", {}), old), kResumeGrace),
       &powering_up, false, up, "new", Says::changed},
      {"a resume that never reached us, the old pod still there",
       missed(since(make_node(down, "", pod), old), kResumeGrace), &powering_up, false, up, "new", Says::changed},
      {"a resume may still be on its way", make_node(unknown, "", {}), &powering_up, false, unknown, "", Says::waits},
      {"and a second later", missed(make_node(unknown, "", {}), 1s), &powering_up, false, unknown, "", Says::waits},
      {"slurm has waited for a resume long enough", missed(make_node(unknown, "", {}), kResumeGrace), &powering_up,
       false, up, "new", Says::changed},
      {"held back: it was set DOWN while it was powering up, nobody waits for it",
       missed(make_node(unknown, "", {}), kResumeGrace), &held, false, unknown, "", Says::nothing},
      {"nothing is decided while a request is under way", busy(since(make_node(up, "r1", pod), old)), &powered_down,
       false, up, "r1", Says::nothing},
  };
  for (const auto& row : cases) {
    Node node = row.node;
    const Look look{kNow, row.first, "new", kNow - 2s};
    const ReconcileOutcome result = reconcile_node(node, row.record, look);
    const Says says = node.needs_get   ? Says::needs_get
                      : result.changed ? Says::changed
                      : result.waits   ? Says::waits
                                       : Says::nothing;
    if (node.want != row.want || node.request != row.request || says != row.says ||
        result.changed != (says == Says::changed || says == Says::needs_get)) {
      fail_msg("%s: want %d request '%s' changed %d waits %d needs_get %d", row.name, static_cast<int>(node.want),
               node.request.c_str(), result.changed, result.waits, node.needs_get);
    }
  }
}

void a_node_forgets_the_jobs_of_a_former_request(void**) {
  Node node = make_node(Node::Want::up, "r1", make_pod("u1", "r1"));
  node.jobs = {7};
  node.want_down(kNow - kReconcileGrace - 1s);
  assert_true(node.jobs.empty());
  // As when a resume for job 9 is missed while the pod for job 7 is still going.
  node.jobs = {7};
  const SlurmNode powering_up = record({&SlurmNode::powering_up, &SlurmNode::not_responding});
  node = missed(std::move(node), kResumeGrace);
  assert_true(reconcile_node(node, &powering_up, {kNow, false, "new", kNow - 2s}).changed);
  assert_true(node.want == Node::Want::up);
  assert_true(node.jobs.empty());
}

void a_resume_that_was_made_up_for_may_come_late(void**) {
  Node node = make_node(Node::Want::unknown, "", {});
  const SlurmNode powering_up = record({&SlurmNode::powering_up});
  reconcile_node(node, &powering_up, {kNow, true, "new", kNow});
  assert_true(is_late_resume(node, kNow + 59s));
  assert_false(is_late_resume(node, kNow + 61s));  // slurmctld asks again
  assert_false(is_late_resume(make_node(Node::Want::up, "r1", {}), kNow));
  node.want = Node::Want::down;
  assert_false(is_late_resume(node, kNow));
}

void judges_failures_on_a_fresh_record(void**) {
  const SlurmNode powered_down = record({&SlurmNode::powered_down});
  const SlurmNode powering_down = record({&SlurmNode::powering_down});
  const SlurmNode asked_down = record({&SlurmNode::power_down_asked});
  const SlurmNode asked_in_use = with_base(asked_down, SlurmNode::Base::allocated);
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
      {"the same, while it has a job", &asked_in_use, false, Verdict::give_up},
      {"deleted under a node in use", &usable, true, Verdict::give_up},
      {"ended under a node in use", &usable, false, Verdict::give_up},
  };
  for (const auto& row : cases) {
    if (judge_failure(row.record, row.vanished) != row.verdict) fail_msg("%s", row.name);
  }
}

void judges_pods_that_do_not_go(void**) {
  const auto cloud = [](SlurmNode node) {
    node.cloud = true;
    return node;
  };
  const SlurmNode off = cloud(record({&SlurmNode::powered_down}));
  const SlurmNode going = cloud(record({&SlurmNode::powering_down}));
  const SlurmNode powering_up = cloud(record({&SlurmNode::powering_up, &SlurmNode::not_responding}));
  const SlurmNode configured = with_base(powering_up, SlurmNode::Base::allocated);
  const SlurmNode in_use = with_base(cloud(record({}, true)), SlurmNode::Base::mixed);
  const SlurmNode silent = cloud(record({&SlurmNode::not_responding}, true));
  const auto down = [&](const char* reason) { return with_base(silent, SlurmNode::Base::down, reason); };
  SlurmNode drained = off;
  drained.draining = true;
  SlurmNode held = powering_up;
  held.base = SlurmNode::Base::down;
  held.reason = "slurm-k8s: ErrImagePull";
  const struct {
    const char* name;
    const SlurmNode record;
    StuckVerdict verdict;
  } cases[] = {
      {"it could get a job", off, StuckVerdict::drain},
      {"it could get a job after SuspendTimeout", going, StuckVerdict::drain},
      {"it takes none already", drained, StuckVerdict::leave},
      {"it is about to be suspended, which would undrain it", cloud(record({&SlurmNode::power_down_asked})),
       StuckVerdict::leave},
      {"it has got a job, and isn't powered up yet", with_base(off, SlurmNode::Base::allocated), StuckVerdict::drain},
      {"a job waits for it", configured, StuckVerdict::give_up},
      {"only slurmctld waits for it", powering_up, StuckVerdict::give_up},
      {"its jobs run on, its slurmd answers", in_use, StuckVerdict::drain},
      {"its slurmd is silent, and slurmctld still waits", with_base(silent, SlurmNode::Base::mixed),
       StuckVerdict::drain},
      {"slurmctld has lost its slurmd", down("Not responding"), StuckVerdict::give_up},
      {"so, and it was drained for its machine", down("slurm-k8s: kubernetes node m1 is not ready: x : Not responding"),
       StuckVerdict::give_up},
      {"so, on 22.05", down("slurm-k8s: kubernetes node m1 is not ready: x"), StuckVerdict::give_up},
      {"so, and an administrator had drained it", down("disk check : Not responding"), StuckVerdict::give_up},
      {"it is DOWN because of us, and released later", held, StuckVerdict::leave},
      {"ResumeTimeout: released later", with_base(off, SlurmNode::Base::down, "ResumeTimeout reached"),
       StuckVerdict::leave},
      {"an administrator set it DOWN", down("broken disk"), StuckVerdict::leave},
      {"it is none of ours", record({&SlurmNode::powered_down}), StuckVerdict::leave},
  };
  for (const auto& row : cases) {
    if (judge_stuck(&row.record) != row.verdict) fail_msg("%s", row.name);
  }
  assert_true(judge_stuck(nullptr) == StuckVerdict::leave);
}

// Reasons as slurmctld leaves them; see reasons.hpp.
void tells_its_own_reasons(void**) {
  enum class Is { other, failure, drain, timeout };
  const bool kPoweredDown = true;
  const struct {
    const char* name;
    const char* reason;
    bool powered_down;
    Is is;
  } cases[] = {
      {"set DOWN by us", "slurm-k8s: pod is gone", false, Is::failure},
      {"ResumeTimeout, no Reason before", "ResumeTimeout reached", kPoweredDown, Is::timeout},
      {"ResumeTimeout with a time", "ResumeTimeout reached [slurm@now]", kPoweredDown, Is::timeout},
      {"24.11: an administrator's is kept", "disk check : ResumeTimeout reached", kPoweredDown, Is::timeout},
      {"24.11: our earlier one is kept", "slurm-k8s: kubernetes node m1 is cordoned : ResumeTimeout reached",
       kPoweredDown, Is::timeout},
      {"24.11: once more", "disk check : ResumeTimeout reached : Not responding", kPoweredDown, Is::timeout},
      {"a silent slurmd", "Not responding", false, Is::other},
      {"24.11: so, our earlier one is kept", "slurm-k8s: pod is gone : Not responding", false, Is::other},
      {"24.11: so, after a ResumeTimeout", "disk check : ResumeTimeout reached : Not responding", false, Is::other},
      {"24.11: so, drained by us", "slurm-k8s: kubernetes node m1 is not ready: x : Not responding", false, Is::drain},
      {"22.05: so, drained by us", "slurm-k8s: kubernetes node m1 is not ready: x", false, Is::drain},
      {"drained by us, DOWN for another cause", "slurm-k8s: scale-in : Low RealMemory", false, Is::other},
      {"our drain is over", kReasonReleased, false, Is::other},
      {"an administrator's", "disk check", false, Is::other},
      {"an administrator's of ResumeTimeout", "see ticket: ResumeTimeout reached too often", kPoweredDown, Is::other},
      {"drained: scale-in", "slurm-k8s: scale-in", false, Is::drain},
      {"drained: update", "slurm-k8s: update of the template", false, Is::drain},
      {"drained: protected", "slurm-k8s: protected: ErrImagePull: not found", false, Is::drain},
      {"drained: its pod doesn't go", "slurm-k8s: pod not deleted: still terminating", false, Is::drain},
      {"no Reason", "", false, Is::other},
  };
  for (const auto& row : cases) {
    SlurmNode node = record({});
    node.cloud = true;
    node.base = SlurmNode::Base::down;
    node.reason = row.reason;
    node.powered_down = row.powered_down;
    const Is is = is_failure_reason(row.reason)                     ? Is::failure
                  : is_drain_reason(row.reason)                     ? Is::drain
                  : is_resume_timeout(row.reason, row.powered_down) ? Is::timeout
                                                                    : Is::other;
    const bool is_given = row.is == Is::failure || row.is == Is::timeout;
    if (is_given_up(node) != is_given) fail_msg("%s: given up %d", row.name, !is_given);
    // A Reason can be both: of a drain, which ResumeTimeout has ended.
    const bool is_both = row.is == Is::timeout && is == Is::drain;
    if (is != row.is && !is_both) fail_msg("%s: %d", row.name, static_cast<int>(is));
  }
  assert_text(build_reason(kReason, "pull : ResumeTimeout reached : x"), "slurm-k8s: pull: ResumeTimeout reached: x");
  assert_text(cause_of("disk check : ResumeTimeout reached"), kReasonResumeTimeout);
  assert_text(cause_of("slurm-k8s: protected: no image"), "no image");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(plans_each_node_alone),
      SLURMK8S_TEST(reconciles_with_slurm),
      SLURMK8S_TEST(a_resume_that_was_made_up_for_may_come_late),
      SLURMK8S_TEST(judges_failures_on_a_fresh_record),
      SLURMK8S_TEST(a_node_forgets_the_jobs_of_a_former_request),
      SLURMK8S_TEST(judges_pods_that_do_not_go),
      SLURMK8S_TEST(tells_its_own_reasons),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
