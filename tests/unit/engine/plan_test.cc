// SPDX-License-Identifier: GPL-2.0-or-later
// The plan: every rule that keeps a job or a pod safe, as a row.
#include <string>
#include <vector>

#include "engine/plan.hpp"

#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/plan_nodes.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;
using Kind = Action::Kind;

namespace {

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
       needs_get(make_node(Node::Want::unknown, "", {})), true, Kind::get_pod, "", ""},
      {"nobody asked, and nobody misses its pod", make_node(Node::Want::unknown, "", {}), true, Kind::none, "", ""},
      {"a pod that the watch should have shown is looked at", needs_get(make_node(up, "r1", current)), true,
       Kind::get_pod, "", ""},
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
      {"an older pod that doesn't go", deleting_since(make_node(up, "r1", older_going), 15s), true, Kind::confirm, "u0",
       ""},
      {"so, and the API server has confirmed it",
       answered(deleting_since(make_node(up, "r1", older_going), 15s), Answer::pod_read), true, Kind::stuck, "u0",
       "still terminating on kubernetes node m1"},
      {"so, and slurmctld knows", told_stuck(deleting_since(make_node(up, "r1", older_going), 15s)), true, Kind::none,
       "", ""},
      {"so, and is asked", busy(deleting_since(make_node(up, "r1", older_going), 15s)), true, Kind::none, "", ""},
      {"a pod that we delete to make it again doesn't go", deleting_since(make_node(up, "r1", going), 15s), true,
       Kind::confirm, "u1", ""},
      {"the pod of a node in use doesn't go", with_pod_seen(deleting_since(make_node(up, "r1", going), 15s)), true,
       Kind::confirm, "u1", ""},
      {"so, and it is confirmed",
       answered(with_pod_seen(deleting_since(make_node(up, "r1", going), 15s)), Answer::pod_read), true, Kind::stuck,
       "u1", "m1"},
      {"its start problem no longer counts when it is being deleted",
       with_problem_since(with_pod_seen(make_node(up, "r1", with_problem(going, Hint::failing))), 60s), true,
       Kind::wait, "", ""},
      {"so, and it has ended: its finalizer keeps it",
       with_pod_seen(deleting_since(make_node(up, "r1", ended(going, "x")), 15s)), true, Kind::fail, "", "x"},
      {"wanted down, and it doesn't go", deleting_since(make_node(down, "", going), 15s), true, Kind::confirm, "u1",
       ""},
      {"so, and it is confirmed", answered(deleting_since(make_node(down, "", going), 15s), Answer::pod_read), true,
       Kind::stuck, "u1", "m1"},
      {"wanted down, it doesn't go, and slurmctld knows", told_stuck(deleting_since(make_node(down, "", going), 15s)),
       true, Kind::none, "", ""},
      {"a pod that was taken over is current whatever its request", make_node(up, "", older), true, Kind::none, "", ""},
      {"its pod was deleted by somebody", with_pod_seen(make_node(up, "r1", {})), true, Kind::fail, "", "pod is gone"},
      {"its pod is being deleted by somebody: not lost yet", with_pod_seen(make_node(up, "r1", deleting(current))),
       true, Kind::wait, "", ""},
      {"its pod is deleted by us, to be recreated", make_node(up, "r1", deleting(ended(current, "exit code 0"))), true,
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
      {"kubelet may pull the image at the next try",
       with_problem_since(make_node(up, "r1", with_problem(current, Hint::failing)), 4s), true, Kind::wait, "", ""},
      {"kubelet can't start it", with_problem_since(make_node(up, "r1", with_problem(current, Hint::failing)), 5s),
       true, Kind::confirm, "u1", ""},
      {"kubelet can't start it, and the API server has confirmed it",
       answered(with_problem_since(make_node(up, "r1", with_problem(current, Hint::failing)), 5s), Answer::pod_read),
       true, Kind::fail, "", "why"},
      {"a machine may be on its way",
       with_problem_since(make_node(up, "r1", with_problem(current, Hint::unschedulable)), 239s), true, Kind::wait, "",
       ""},
      {"no machine came", with_problem_since(make_node(up, "r1", with_problem(current, Hint::unschedulable)), 240s),
       true, Kind::confirm, "u1", ""},
      {"no machine came, and the API server has confirmed it",
       answered(with_problem_since(make_node(up, "r1", with_problem(current, Hint::unschedulable)), 240s),
                Answer::pod_read),
       true, Kind::fail, "", "why"},
      {"another problem has just begun: the watch had not told",
       answered(make_node(up, "r1", with_problem(current, Hint::failing)), Answer::pod_read), true, Kind::wait, "", ""},
      {"an older pod that can't start is none of ours",
       with_problem_since(make_node(up, "r1", with_problem(older, Hint::failing)), 60s), true, Kind::ask, "", ""},
      {"no nodeset owns it, but its nodeset may be on its way", since(make_node(up, "r1", {}), 4s), false, Kind::wait,
       "", ""},
      {"no nodeset owns it for good", since(make_node(up, "r1", {}), 5s), false, Kind::fail, "", "no nodeset"},
      {"a nodeset that became wrong doesn't touch a running pod", make_node(up, "r1", current), false, Kind::none, "",
       ""},
      {"wanted down with a pod", make_node(down, "", current), true, Kind::remove, "u1", ""},
      {"wanted down, no nodeset any more: the pod still goes", make_node(down, "", current), false, Kind::remove, "u1",
       ""},
      {"wanted down, already going", make_node(down, "", deleting(current)), true, Kind::wait, "", ""},
      {"wanted down, no pod: its suspend is done", make_node(down, "", {}), true, Kind::forget, "", ""},
      {"a request is under way", busy(make_node(up, "r1", {})), true, Kind::none, "", ""},
      {"a removal is under way", busy(make_node(down, "", current)), true, Kind::none, "", ""},
      {"backing off", backing_off(make_node(up, "r1", {})), true, Kind::wait, "", ""},
  };
  const NodeSet nodeset;
  for (const auto& row : cases) {
    const Owner owner = row.owned ? Owner(&nodeset) : Owner(Error(Errc::not_found, "no nodeset owns it"));
    const Action action = plan_node(row.node, {owner, kNow});
    if (action.kind != row.kind || action.uid != row.uid || action.reason.find(row.reason) == std::string::npos ||
        action.reason.empty() != !*row.reason) {
      fail_msg("%s: kind %d uid '%s' reason '%s'", row.name, static_cast<int>(action.kind), action.uid.c_str(),
               action.reason.c_str());
    }
    if (action.kind == Kind::wait && action.at <= kNow) fail_msg("%s: waits for the past", row.name);
  }
}

/** slurmctld was away: until it has heard which jobs ended meanwhile, no node with a job is given up. */
void waits_for_ends_of_jobs(void**) {
  const auto up = Node::Want::up;
  const auto unknown = Node::Want::unknown;
  const Pod current = make_pod("u1", "r1");
  const struct {
    const char* name;
    Node node;
    Kind early;
    Kind later;
  } cases[] = {
      {"its pod is gone", with_job(with_pod_seen(make_node(up, "r1", {}))), Kind::wait, Kind::fail},
      {"its pod ended", with_job(with_pod_seen(make_node(up, "r1", ended(current, "Error")))), Kind::wait, Kind::fail},
      {"so, as was just read", answered(with_job(make_node(up, "r1", ended(current, "Error"))), Answer::pod_read),
       Kind::wait, Kind::fail},
      {"slurm takes it for up, and no pod is known", with_job(needs_get(make_node(unknown, "", {}))), Kind::wait,
       Kind::get_pod},
      {"without a job its pod is gone", with_pod_seen(make_node(up, "r1", {})), Kind::fail, Kind::fail},
      {"without a job no pod is known", needs_get(make_node(unknown, "", {})), Kind::get_pod, Kind::get_pod},
      {"its pod is there", with_job(make_node(up, "r1", current)), Kind::none, Kind::none},
      {"its pod can't start: no job began",
       with_problem_since(with_job(make_node(up, "r1", with_problem(current, Hint::failing))), 5s), Kind::confirm,
       Kind::confirm},
  };
  const NodeSet nodeset;
  const Owner owner(&nodeset);
  for (const auto& row : cases) {
    const Action early = plan_node(row.node, {owner, kNow, false, kNow + 1s});
    if (early.kind != row.early) fail_msg("%s: early: kind %d", row.name, static_cast<int>(early.kind));
    if (early.kind == Kind::wait) assert_true(early.at == kNow + 1s);
    const Action later = plan_node(row.node, {owner, kNow, false, kNow});
    if (later.kind != row.later) fail_msg("%s: later: kind %d", row.name, static_cast<int>(later.kind));
  }
}

/** Answers to questions: what follows from each, at once or (`late`) from the node as it is when its turn comes. */
void acts_on_answers(void**) {
  const auto unknown = Node::Want::unknown;
  const auto up = Node::Want::up;
  const auto down = Node::Want::down;
  const bool kOneShot = true, kLate = true;
  const Pod current = make_pod("u1", "r1");
  const Pod older = make_pod("u0", "r0");
  const Pod going = deleting(on_machine(current));
  const Node replaced = make_node(up, "r1", older);
  const Node replaced_gone = with_older_pod_gone(make_node(up, "r1", older));
  const Node empty = make_node(up, "r1", {});
  const Node in_use = with_pod_seen(make_node(up, "r1", current));
  const Node hindered = make_node(up, "r1", with_problem(current, Hint::failing));
  const Node leaving = make_node(down, "", current);
  Node silent = in_use;
  silent.unregistered_pod = "u1";
  const auto lost = [&](Answer answer) { return answered(with_pod_seen(make_node(up, "r1", {})), answer); };
  const auto stuck = [&](Answer answer) { return answered(deleting_since(make_node(down, "", going), 20s), answer); };
  const struct {
    const char* name;
    Node node;
    bool one_shot;
    bool late;
    Kind kind;
    const char* uid;
    const char* reason;
  } cases[] = {
      // slurmctld, of the record
      {"slurm waits for a node with an older pod: its slurmd is ignored", answered(replaced, Answer::slurm_waits),
       false, false, Kind::replace, "u0", ""},
      {"so, and the pod has gone: nothing is lost with it", answered(replaced_gone, Answer::slurm_waits), false, false,
       Kind::replace, "", ""},
      {"the older pod's slurmd has registered: it serves", answered(replaced, Answer::slurm_has_it_up), false, false,
       Kind::adopt, "", ""},
      {"so, and the pod has gone: that is a loss", answered(replaced_gone, Answer::slurm_has_it_up), false, false,
       Kind::adopt, "", ""},
      {"slurm is about to suspend it, say: it is asked again", answered(replaced, Answer::slurm_neither), false, false,
       Kind::postpone, "", ""},
      {"slurm has no record: the next comparison tells", answered(replaced, Answer::slurm_no_record), false, false,
       Kind::postpone, "", ""},
      {"the pod has gone since: slurm is asked again", with_older_pod_gone(answered(replaced, Answer::slurm_waits)),
       false, kLate, Kind::ask, "", ""},
      {"another pod is there since: slurm is asked again", with_other_pod(answered(replaced, Answer::slurm_waits)),
       false, kLate, Kind::ask, "", ""},
      {"resumed again since: slurm is asked again", resumed(answered(replaced, Answer::slurm_has_it_up), "r2"), false,
       kLate, Kind::ask, "", ""},
      {"suspended since: its pod goes, though slurm had it up", suspended(answered(replaced, Answer::slurm_has_it_up)),
       false, kLate, Kind::remove, "u0", ""},
      {"suspended since: its pod goes, though slurm waited", suspended(answered(replaced, Answer::slurm_waits)), false,
       kLate, Kind::remove, "u0", ""},
      // a program that does the work itself
      {"a program asks before it deletes", leaving, kOneShot, kLate, Kind::ask, "", ""},
      {"a program that comes late leaves a node that is up alone", answered(leaving, Answer::slurm_has_it_up), kOneShot,
       false, Kind::drop, "", "resumed meanwhile"},
      {"and one that slurm waits for", answered(leaving, Answer::slurm_waits), kOneShot, false, Kind::drop, "",
       "resumed meanwhile"},
      {"a program deletes the pod that is to go", answered(leaving, Answer::slurm_neither), kOneShot, false,
       Kind::remove, "u1", ""},
      {"also that of a node without a record", answered(leaving, Answer::slurm_no_record), kOneShot, false,
       Kind::remove, "u1", ""},
      {"another pod is there since: a program asks again", with_other_pod(answered(leaving, Answer::slurm_neither)),
       kOneShot, kLate, Kind::ask, "", ""},
      {"suspended once more since: a program asks again", suspended(answered(leaving, Answer::slurm_neither)), kOneShot,
       kLate, Kind::ask, "", ""},
      {"its pod has gone since: the suspend is done", without_pod(answered(leaving, Answer::slurm_neither)), kOneShot,
       kLate, Kind::forget, "", ""},
      {"the pod that was to go has gone, and another one isn't a program's", answered(leaving, Answer::pod_replaced),
       kOneShot, false, Kind::drop, "", ""},
      // slurmds that registered with a former slurmctld
      {"no job can have begun there: the pod is recreated", answered(silent, Answer::unregistered), false, false,
       Kind::replace, "u1", "slurmd registered with a previous slurmctld instance"},
      {"it is another pod by now", with_other_pod(answered(silent, Answer::unregistered)), false, kLate, Kind::ask, "",
       ""},
      {"it has registered since", answered(in_use, Answer::unregistered), false, kLate, Kind::none, "", ""},
      {"it was suspended since", suspended(answered(silent, Answer::unregistered)), false, kLate, Kind::remove, "u1",
       ""},
      {"its pod has gone since", without_pod(answered(silent, Answer::unregistered)), false, kLate, Kind::fail, "",
       "gone"},
      // the API server
      {"its pod is there, and well", answered(in_use, Answer::pod_read), false, kLate, Kind::none, "", ""},
      {"slurm has it up, and only the watch missed its pod",
       answered(make_node(unknown, "", current), Answer::pod_read), false, kLate, Kind::none, "", ""},
      {"what kept it from starting is over",
       answered(with_problem_since(make_node(up, "r1", current), 300s), Answer::pod_read), false, kLate, Kind::none, "",
       ""},
      {"it is being deleted, and has time", answered(make_node(down, "", going), Answer::pod_read), false, kLate,
       Kind::wait, "", ""},
      {"the pod that has the name is older", answered(replaced, Answer::pod_read), false, kLate, Kind::ask, "", ""},
      {"it was suspended while its pod was read", suspended(answered(in_use, Answer::pod_read)), false, kLate,
       Kind::remove, "u1", ""},
      {"it ended, as the API server says", answered(make_node(up, "r1", ended(current, "Evicted")), Answer::pod_read),
       false, false, Kind::fail, "", "Evicted"},
      {"slurm has it up, and there is no pod: lost", answered(make_node(unknown, "", {}), Answer::no_pod), false, false,
       Kind::fail, "", "pod is gone"},
      {"somebody else's pod is no pod of it", answered(make_node(unknown, "", {}), Answer::foreign_pod, "foreign"),
       false, false, Kind::fail, "", "pod is gone"},
      {"the pod of a node in use is not there: lost", answered(with_pod_seen(empty), Answer::no_pod), false, kLate,
       Kind::fail, "", "pod is gone"},
      {"the pod that had the name has gone", answered(empty, Answer::no_pod), false, kLate, Kind::create, "", ""},
      {"an older pod has gone while it was read", answered(replaced_gone, Answer::no_pod), false, kLate, Kind::ask, "",
       ""},
      {"the pod that was to go is not there", answered(make_node(down, "", {}), Answer::no_pod), false, kLate,
       Kind::forget, "", ""},
      {"somebody else's pod has the name", answered(empty, Answer::foreign_pod, "foreign"), false, false, Kind::fail,
       "", "foreign"},
      {"so, and took the place of a lost one", answered(with_pod_seen(empty), Answer::foreign_pod, "foreign"), false,
       kLate, Kind::fail, "", "pod is gone"},
      {"so, and nothing is to be there", answered(make_node(down, "", {}), Answer::foreign_pod, "foreign"), false,
       kLate, Kind::forget, "", ""},
      {"a pod has the name already", answered(empty, Answer::pod_exists), false, false, Kind::find_pod, "", ""},
      {"another pod has the name by now", answered(leaving, Answer::pod_replaced), false, false, Kind::find_pod, "",
       ""},
      {"another one than the older pod has the name", answered(replaced, Answer::pod_replaced), kOneShot, false,
       Kind::find_pod, "", ""},
      {"refused for good", answered(empty, Answer::refused_for_good, "exceeded quota"), false, false, Kind::fail, "",
       "quota"},
      {"refused, and resumed for another job since", resumed(answered(empty, Answer::refused_for_good, "quota"), "r2"),
       false, kLate, Kind::create, "", ""},
      {"refused, and suspended since", suspended(answered(empty, Answer::refused_for_good, "quota")), false, kLate,
       Kind::forget, "", ""},
      {"refused, and the next time may go well", answered(empty, Answer::refused_now, "conflict"), false, false,
       Kind::back_off, "", "conflict"},
      // slurmctld, to reports
      {"it is DOWN, or nobody has a use for it", lost(Answer::failure_told), false, false, Kind::end, "", ""},
      {"slurm still waits for it", lost(Answer::failure_recreate), false, false, Kind::recreate, "", ""},
      {"so, after a start", answered(make_node(unknown, "", {}), Answer::failure_recreate), false, false,
       Kind::recreate, "", ""},
      {"it has come up meanwhile", answered(hindered, Answer::failure_over), false, false, Kind::postpone, "", ""},
      {"so, and was suspended since", suspended(answered(hindered, Answer::failure_over)), false, kLate, Kind::remove,
       "u1", ""},
      {"it is DOWN, after a start", answered(make_node(unknown, "", {}), Answer::failure_told), false, false, Kind::end,
       "", ""},
      {"nobody had a use for it, but a new job has", resumed(lost(Answer::failure_told), "r2"), false, kLate,
       Kind::create, "", ""},
      {"slurm waited for it, and has suspended it since", suspended(lost(Answer::failure_recreate)), false, kLate,
       Kind::forget, "", ""},
      {"slurm has set it DOWN for its pod",
       answered(deleting_since(make_node(up, "r2", going), 20s), Answer::stuck_lost), false, false, Kind::stuck_lost,
       "", ""},
      {"so, and it was suspended already", stuck(Answer::stuck_lost), false, false, Kind::stuck_suspended, "", ""},
      {"slurm has drained it for its pod", stuck(Answer::stuck_told), false, false, Kind::stuck_told, "", ""},
      {"resumed since: another verdict is due", resumed(stuck(Answer::stuck_told), "r2"), false, kLate, Kind::confirm,
       "u1", ""},
      {"the pod has gone since", without_pod(stuck(Answer::stuck_told)), false, kLate, Kind::forget, "", ""},
  };
  const NodeSet nodeset;
  const Owner owner(&nodeset);
  for (const auto& row : cases) {
    const PlanContext context{owner, kNow, row.one_shot};
    const Action action = plan_node(row.node, context);
    if (action.kind != row.kind || action.uid != row.uid || action.reason.find(row.reason) == std::string::npos ||
        action.reason.empty() != !*row.reason) {
      fail_msg("%s: kind %d uid '%s' reason '%s'", row.name, static_cast<int>(action.kind), action.uid.c_str(),
               action.reason.c_str());
    }
    if (plan_answer(row.node, context).has_value() == row.late) fail_msg("%s: late %d", row.name, !row.late);
    if (action.kind == Kind::postpone) assert_true(action.at == kNow + 1s);
    // Nothing is decided while another question is under way.
    assert_true(plan_node(busy(row.node), context).kind == Kind::none);
  }
}

// What depends on the NodeSet, and on the job that it is for.
void plans_by_nodeset(void**) {
  const auto up = Node::Want::up;
  const NodeSet plain;
  NodeSet with_variants, names_jobs, patient;
  with_variants.variants["v1"];
  names_jobs.names_jobs = true;
  patient.unschedulable_grace = 60s;
  const Pod homeless = with_problem(make_pod("u1", "r1"), Hint::unschedulable);
  Node ordered = make_node(up, "r1", {});
  ordered.progress.order = PodOrder{"v1", std::nullopt};
  const struct {
    const char* name;
    Node node;
    const NodeSet& nodeset;
    Kind kind;
  } cases[] = {
      {"any pod will do", make_node(up, "r1", {}), plain, Kind::create},
      {"its job chooses the variant", make_node(up, "r1", {}), with_variants, Kind::order},
      {"its pod is told of the job", make_node(up, "r1", {}), names_jobs, Kind::order},
      {"slurmctld has said which", ordered, with_variants, Kind::create},
      {"the variant was removed meanwhile", ordered, names_jobs, Kind::fail},
      {"asked for again since: for another job, perhaps", resumed(ordered, "r2"), with_variants, Kind::order},
      {"the NodeSet waits for a machine", with_problem_since(make_node(up, "r1", homeless), 59s), patient, Kind::wait},
      {"as long as it says", with_problem_since(make_node(up, "r1", homeless), 60s), patient, Kind::confirm},
      {"the default is longer", with_problem_since(make_node(up, "r1", homeless), 60s), plain, Kind::wait},
      {"an image doesn't have that time",
       with_problem_since(make_node(up, "r1", with_problem(make_pod("u1", "r1"), Hint::failing)), 5s), patient,
       Kind::confirm},
  };
  for (const auto& row : cases) {
    const Owner owner(&row.nodeset);
    const Action action = plan_node(row.node, {owner, kNow});
    if (action.kind != row.kind) fail_msg("%s: kind %d", row.name, static_cast<int>(action.kind));
  }
}

// For metrics, and for what is told of a failure.
void failures_have_causes(void**) {
  const auto up = Node::Want::up;
  const Pod current = make_pod("u1", "r1");
  const Pod homeless = with_problem(current, Hint::unschedulable);
  const Pod imageless = with_problem(current, Hint::failing);
  const auto fresh = [&](const Pod& pod) {
    return answered(with_problem_since(make_node(up, "r1", pod), 300s), Answer::pod_read);
  };
  const Node stuck = deleting_since(make_node(Node::Want::down, "", deleting(on_machine(current))), 20s);
  const struct {
    const char* name;
    Node node;
    bool owned;
    Cause cause;
  } cases[] = {
      {"refused", answered(make_node(up, "r1", {}), Answer::refused_for_good, "quota"), true, Cause::refused},
      {"no_nodeset", since(make_node(up, "r1", {}), 5s), false, Cause::no_nodeset},
      {"unschedulable", fresh(homeless), true, Cause::unschedulable},
      {"unschedulable", fresh(homeless), false, Cause::unschedulable},
      {"start", fresh(imageless), true, Cause::start},
      {"ended", make_node(up, "r1", ended(current, "Evicted")), true, Cause::ended},
      {"gone", with_pod_seen(make_node(up, "r1", {})), true, Cause::gone},
      {"not_deleted", answered(stuck, Answer::pod_read), true, Cause::not_deleted},
  };
  const NodeSet nodeset;
  for (const auto& row : cases) {
    const Owner owner = row.owned ? Owner(&nodeset) : Owner(Error(Errc::not_found, "no nodeset owns it"));
    const Action action = plan_node(row.node, {owner, kNow});
    if (action.kind != Kind::fail && action.kind != Kind::stuck) fail_msg("%s: no failure", row.name);
    if (action.cause != row.cause) fail_msg("%s: cause %s", row.name, to_string(action.cause));
    assert_text(to_string(action.cause), row.name);
  }
}

void reads_records_as_answers(void**) {
  assert_true(answer_of(static_cast<const SlurmNode*>(nullptr)) == Answer::slurm_no_record);
  const struct {
    const char* name;
    SlurmNode record;
    Answer answer;
  } cases[] = {
      {"powering up", record({&SlurmNode::powering_up, &SlurmNode::not_responding}), Answer::slurm_waits},
      {"powering up, and to be powered down", record({&SlurmNode::powering_up, &SlurmNode::power_down_asked}),
       Answer::slurm_neither},
      {"up", record({}, true), Answer::slurm_has_it_up},
      {"up with a job", with_base(record({}, true), SlurmNode::Base::mixed), Answer::slurm_has_it_up},
      {"silent", record({&SlurmNode::not_responding}, true), Answer::slurm_neither},
      {"DOWN", with_base(record({}, true), SlurmNode::Base::down), Answer::slurm_neither},
      {"rebooting", rebooting(), Answer::slurm_waits},
      {"powered down", record({&SlurmNode::powered_down}), Answer::slurm_neither},
      {"powering down", record({&SlurmNode::powering_down}), Answer::slurm_neither},
  };
  for (const auto& row : cases) {
    if (answer_of(&row.record) != row.answer) fail_msg("%s", row.name);
  }
  for (const Verdict verdict : {Verdict::forget, Verdict::back_off, Verdict::give_up}) {
    assert_true(answer_of(verdict) == Answer::failure_told);
  }
  assert_true(answer_of(Verdict::recreate) == Answer::failure_recreate);
  assert_true(answer_of(Verdict::stay) == Answer::failure_over);
  for (const StuckVerdict verdict : {StuckVerdict::leave, StuckVerdict::drain}) {
    assert_true(answer_of(verdict) == Answer::stuck_told);
  }
  assert_true(answer_of(StuckVerdict::give_up) == Answer::stuck_lost);
}

void reads_errors_as_answers(void**) {
  const struct {
    Errc code;
    Answer answer;
  } cases[] = {
      {Errc::already_exists, Answer::pod_exists},
      {Errc::conflict, Answer::refused_now},  // two creates met at one ResourceQuota
      {Errc::throttled, Answer::refused_now},
      {Errc::unavailable, Answer::refused_now},
      {Errc::timeout, Answer::refused_now},
      {Errc::forbidden, Answer::refused_for_good},  // quota
      {Errc::invalid, Answer::refused_for_good},
      {Errc::not_found, Answer::refused_for_good},
  };
  for (const auto& row : cases) {
    if (answer_of_create(Error(row.code, "x")) != row.answer) fail_msg("code %d", static_cast<int>(row.code));
  }
}

// A ResumeTimeout of such a node says nothing about its NodeSet.
void knows_when_the_api_server_is_to_blame(void**) {
  const auto up = Node::Want::up;
  const bool kWatchFails = true;
  Pod running = make_pod("u1", "r1");
  running.running = true;
  const struct {
    const char* name;
    Node node;
    bool watch_fails;
    bool is_to_blame;
  } cases[] = {
      {"its pod could not be made", make_node(up, "r1", {}), false, true},
      {"the previous pod doesn't go", make_node(up, "r1", make_pod("u0", "r0")), false, true},
      {"its pod does not start", make_node(up, "r1", make_pod("u1", "r1")), false, false},
      {"its pod may have started", make_node(up, "r1", make_pod("u1", "r1")), kWatchFails, true},
      {"its pod runs", make_node(up, "r1", running), kWatchFails, false},
      {"its pod is gone", with_pod_seen(make_node(up, "r1", {})), kWatchFails, false},
      {"wanted down", make_node(Node::Want::down, "", {}), kWatchFails, false},
      {"nobody asked", make_node(Node::Want::unknown, "", {}), kWatchFails, false},
  };
  for (const auto& row : cases) {
    if (is_api_outage_to_blame(row.node, row.watch_fails) != row.is_to_blame) fail_msg("%s", row.name);
  }
}

void judges_failures_on_a_fresh_record(void**) {
  const SlurmNode powered_down = record({&SlurmNode::powered_down});
  const SlurmNode powering_down = record({&SlurmNode::powering_down});
  const SlurmNode asked_down = record({&SlurmNode::power_down_asked});
  const SlurmNode asked_in_use = with_base(asked_down, SlurmNode::Base::allocated);
  const SlurmNode powering_up = record({&SlurmNode::powering_up});
  const SlurmNode usable = record({}, true);
  const SlurmNode reboots = rebooting();
  const SlurmNode silent = record({&SlurmNode::not_responding}, true);
  const SlurmNode down = with_base(usable, SlurmNode::Base::down);
  const struct {
    const char* name;
    const SlurmNode* record;
    FailureFacts facts;
    Verdict verdict;
  } cases[] = {
      {"slurm has no such node", nullptr, {.vanished = true}, Verdict::forget},
      {"powered down meanwhile", &powered_down, {.vanished = true}, Verdict::forget},
      {"being suspended meanwhile", &powering_down, {}, Verdict::forget},
      {"deleted before slurmd registered", &powering_up, {.vanished = true}, Verdict::recreate},
      {"ended before slurmd registered", &powering_up, {}, Verdict::back_off},
      {"so, and a program asks, which releases nothing", &powering_up, {.may_back_off = false}, Verdict::give_up},
      {"power down was asked for meanwhile", &asked_down, {}, Verdict::forget},
      {"the same, while it has a job", &asked_in_use, {}, Verdict::give_up},
      {"it did not start, and has registered meanwhile", &usable, {.is_start = true}, Verdict::stay},
      {"the same, and it is to go when its job is over", &asked_in_use, {.is_start = true}, Verdict::stay},
      {"it does not start", &powering_up, {.is_start = true}, Verdict::back_off},
      {"it does not start after a reboot", &reboots, {.is_start = true}, Verdict::give_up},
      {"it did not start, and is silent", &silent, {.is_start = true}, Verdict::give_up},
      {"it did not start, and is DOWN", &down, {.is_start = true}, Verdict::give_up},
      {"it did not start, and was suspended meanwhile", &powering_down, {.is_start = true}, Verdict::forget},
      {"deleted under a node in use", &usable, {.vanished = true}, Verdict::give_up},
      {"ended under a node in use", &usable, {}, Verdict::give_up},
  };
  for (const auto& row : cases) {
    if (judge_failure(row.record, row.facts) != row.verdict) fail_msg("%s", row.name);
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

void judges_drains_whose_pod_has_gone(void**) {
  using Flags = std::initializer_list<bool SlurmNode::*>;
  const auto drained = [](Flags flags, std::string reason = std::string(kReasonNotDeleted) + "still terminating") {
    SlurmNode node = record(flags);
    node.cloud = node.draining = true;
    node.reason = std::move(reason);
    return node;
  };
  const struct {
    const char* name;
    SlurmNode record;
    ReleaseVerdict verdict;
  } cases[] = {
      {"up", drained({}), ReleaseVerdict::undrain},
      {"powered down", drained({&SlurmNode::powered_down}), ReleaseVerdict::power_down},
      {"powering down", drained({&SlurmNode::powering_down}), ReleaseVerdict::resume},
      {"both", drained({&SlurmNode::powered_down, &SlurmNode::powering_down}), ReleaseVerdict::resume},
      {"about to be suspended", drained({&SlurmNode::powered_down, &SlurmNode::power_down_asked}),
       ReleaseVerdict::leave},
      {"drained for an update", drained({}, kReasonUpdate), ReleaseVerdict::leave},
      {"drained by an administrator", drained({}, "broken disk"), ReleaseVerdict::leave},
      {"not drained", record({&SlurmNode::powered_down, &SlurmNode::cloud}), ReleaseVerdict::leave},
  };
  for (const auto& row : cases) {
    if (judge_release(row.record) != row.verdict) fail_msg("%s", row.name);
  }
}

void tells_again_of_a_pod_that_does_not_go(void**) {
  const Node node = told_stuck(deleting_since(make_node(Node::Want::down, "", deleting(make_pod("u1", "r1"))), 20s));
  SlurmNode off = record({&SlurmNode::powered_down, &SlurmNode::cloud});
  assert_true(is_stuck_again(node, &off));  // its drain was taken back
  assert_false(is_stuck_again(busy(node), &off));
  assert_false(is_stuck_again(make_node(Node::Want::down, "", {}), &off));
  off.draining = true;
  assert_false(is_stuck_again(node, &off));
  assert_false(is_stuck_again(node, nullptr));
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(plans_each_node_alone),
      SLURMK8S_TEST(waits_for_ends_of_jobs),
      SLURMK8S_TEST(acts_on_answers),
      SLURMK8S_TEST(plans_by_nodeset),
      SLURMK8S_TEST(failures_have_causes),
      SLURMK8S_TEST(reads_records_as_answers),
      SLURMK8S_TEST(reads_errors_as_answers),
      SLURMK8S_TEST(knows_when_the_api_server_is_to_blame),
      SLURMK8S_TEST(judges_failures_on_a_fresh_record),
      SLURMK8S_TEST(judges_pods_that_do_not_go),
      SLURMK8S_TEST(judges_drains_whose_pod_has_gone),
      SLURMK8S_TEST(tells_again_of_a_pod_that_does_not_go),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
