// SPDX-License-Identifier: GPL-2.0-or-later
// engine/reconcile: what slurmctld's records say about nodes, and what is to be repaired: each a row.
#include "engine/reconcile.hpp"

#include <string>
#include <vector>

#include "engine/plan.hpp"
#include "support/cmocka.hpp"
#include "support/plan_nodes.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

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
  const SlurmNode boots = rebooting();
  const std::chrono::seconds old = 31s;
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
      {"after a start: powering up, the pod is an older one and on its way out", make_node(unknown, "", deleting(pod)),
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
      {"so is one of 29 s ago", since(make_node(down, "", pod), 29s), &usable, false, down, "", Says::nothing},
      {"suspended, and still so", since(make_node(down, "", pod), old), &powering_down, false, down, "", Says::nothing},
      {"a resume of a suspended node that never reached us", missed(since(make_node(down, "", {}), old), 5s),
       &powering_up, false, up, "new", Says::changed},
      {"a resume that never reached us, the old pod still there", missed(since(make_node(down, "", pod), old), 5s),
       &powering_up, false, up, "new", Says::changed},
      {"a resume may still be on its way", make_node(unknown, "", {}), &powering_up, false, unknown, "", Says::waits},
      {"and four seconds later", missed(make_node(unknown, "", {}), 4s), &powering_up, false, unknown, "", Says::waits},
      {"slurm has waited for a resume long enough", missed(make_node(unknown, "", {}), 5s), &powering_up, false, up,
       "new", Says::changed},
      {"backing off: it was set DOWN while it was powering up, nobody waits for it",
       missed(make_node(unknown, "", {}), 5s), &held, false, unknown, "", Says::nothing},
      {"after a start: rebooting, its pod may be older than that", make_node(unknown, "", pod), &boots, true, up, "new",
       Says::changed},
      {"after a start: rebooting, its pod was not made again", make_node(unknown, "", {}), &boots, true, up, "new",
       Says::changed},
      {"its RebootProgram may still be on its way", make_node(unknown, "", pod), &boots, false, unknown, "",
       Says::waits},
      {"rebooting with its pod, as asked", since(make_node(up, "r1", pod), old), &boots, false, up, "r1",
       Says::nothing},
      {"nothing is decided while a request is under way", busy(since(make_node(up, "r1", pod), old)), &powered_down,
       false, up, "r1", Says::nothing},
  };
  for (const auto& row : cases) {
    Node node = row.node;
    const ReconcileContext context{kNow, row.first, "new", kNow - 2s};
    const ReconcileOutcome result = reconcile_node(node, row.record, context);
    const Says says = node.needs_get   ? Says::needs_get
                      : result.changed ? Says::changed
                      : result.waits   ? Says::waits
                                       : Says::nothing;
    if (node.want() != row.want || node.resume().id != row.request || says != row.says ||
        result.changed != (says == Says::changed || says == Says::needs_get)) {
      fail_msg("%s: want %d request '%s' changed %d waits %d needs_get %d", row.name, static_cast<int>(node.want()),
               node.resume().id.c_str(), result.changed, result.waits, node.needs_get);
    }
    // A pod that is taken over: its absence is a loss, and nobody knows when it was asked for.
    const Progress& progress = node.progress;
    const bool is_taken_over = row.node.want() == unknown && node.is_wanted_up() && !node.resume().inferred;
    assert_true(!is_taken_over || (progress.had_pod && progress.timed_scheduled && progress.timed_running));
  }
}

/** Up, with a pod whose slurmd may have registered with a former slurmctld. */
Node unregistered_node() {
  Node node = make_node(Node::Want::up, "r0", make_pod("u1", "r0"));
  node.pod->running = true;
  node.running_since = kNow - 30s;
  node.unregistered_pod = "u1";
  return node;
}

template <typename Change>
Node unregistered_but(Change change) {
  Node node = unregistered_node();
  change(node);
  return node;
}

// What slurmctld waited for at the first look.
void notes_what_was_booting(void**) {
  const SlurmNode waited_for = record({&SlurmNode::powering_up, &SlurmNode::not_responding});
  const SlurmNode asked_down = record({&SlurmNode::powering_up, &SlurmNode::power_down_asked});
  const SlurmNode usable = record({}, true);
  const Node running = unregistered_but([](Node& node) { node.unregistered_pod.clear(); });
  const Node pending = unregistered_but([](Node& node) {
    node.unregistered_pod.clear();
    node.pod->running = false;
  });
  const struct {
    const char* name;
    Node node;
    const SlurmNode* record;
    bool first;
    bool booting;
    const char* pod;
  } cases[] = {
      {"its slurmd may have registered with a former slurmctld", running, &waited_for, true, false, "u1"},
      {"its containers are being made", pending, &waited_for, true, true, "u1"},
      {"its pod is still to come", make_node(Node::Want::unknown, "", {}), &waited_for, true, true, ""},
      {"it has registered", running, &usable, true, false, ""},
      {"it is about to be suspended", running, &asked_down, true, false, ""},
      {"no record", running, nullptr, true, false, ""},
      {"later it is this slurmctld that asked", running, &waited_for, false, false, ""},
      {"it has registered since", unregistered_node(), &usable, false, true, ""},
      {"it has not", unregistered_node(), &waited_for, false, false, "u1"},
  };
  for (const auto& row : cases) {
    Node node = row.node;
    note_boot(node, row.record, {kNow, row.first, "new", kNow - 2s});
    if (node.booting != row.booting) fail_msg("%s: booting %d", row.name, node.booting);
    assert_text(node.unregistered_pod, row.pod);
  }
}

void finds_pods_whose_slurmds_will_not_register(void**) {
  const SlurmNode waited_for = record({&SlurmNode::powering_up, &SlurmNode::not_responding});
  const SlurmNode usable = record({}, true);
  SlurmNode held = with_base(waited_for, SlurmNode::Base::down, "slurm-k8s: no image");
  held.cloud = true;
  const struct {
    const char* name;
    Node node;
    const SlurmNode* record;
    bool expected;
  } cases[] = {
      {"slurmctld still waits after the grace", unregistered_node(), &waited_for, true},
      {"slurmd may be slow", unregistered_but([](Node& node) { node.running_since += 1s; }), &waited_for, false},
      {"it has registered", unregistered_node(), &usable, false},
      {"it was given up", unregistered_node(), &held, false},
      {"no record", unregistered_node(), nullptr, false},
      {"another pod", unregistered_but([](Node& node) { node.pod->uid = "u2"; }), &waited_for, false},
      {"no pod", unregistered_but([](Node& node) { node.forget_pod(); }), &waited_for, false},
      {"its pod doesn't run", unregistered_but([](Node& node) { node.pod->running = false; }), &waited_for, false},
      {"its pod is being deleted", unregistered_but([](Node& node) { node.pod->deleting = true; }), &waited_for, false},
      {"a question is under way", busy(unregistered_node()), &waited_for, false},
      {"it was suspended", suspended(unregistered_node()), &waited_for, false},
  };
  for (const auto& row : cases) {
    if (is_unregistered(row.node, row.record, kNow) != row.expected) fail_msg("%s", row.name);
  }
}

void selects_pods_that_no_job_has_begun_on(void**) {
  using Names = std::vector<std::string>;
  const struct {
    const char* name;
    Names unregistered;
    std::vector<Names> jobs;
    std::set<std::string> booting;
    Names expected;
  } cases[] = {
      {"no job", {"c-0", "c-1"}, {}, {}, {"c-0", "c-1"}},
      {"a job that may have begun", {"c-0", "c-1"}, {{"c-0", "c-1"}}, {}, {}},
      {"a job of another node", {"c-0"}, {{"c-7"}}, {}, {"c-0"}},
      {"a job that waits for another node, too", {"c-0"}, {{"c-0", "c-1"}}, {"c-1"}, {"c-0"}},
      {"two jobs, of which one may have begun", {"c-0"}, {{"c-0", "c-1"}, {"c-0"}}, {"c-1"}, {}},
      {"one of each", {"c-0", "c-2", "c-4"}, {{"c-0", "c-1"}, {"c-2", "c-3"}}, {"c-1"}, {"c-0", "c-4"}},
  };
  for (const auto& row : cases) {
    if (select_renewable(row.unregistered, row.jobs, row.booting) != row.expected) fail_msg("%s", row.name);
  }
}

// The API server has refused to remove the pod for job 7: that says nothing about the pod for the next one.
void inferred_resume_after_a_back_off(void**) {
  Node node = make_node(Node::Want::up, "r1", make_pod("u1", "r1"));
  node.begin({"r1", {7}}, kNow - 60s);
  node.end(kNow - 31s);
  node = without_pod(missed(backing_off(std::move(node)), 5s));
  node.failures = 7;
  const SlurmNode powering_up = record({&SlurmNode::powering_up, &SlurmNode::not_responding});
  assert_true(reconcile_node(node, &powering_up, {kNow, false, "new", kNow - 2s}).changed);
  assert_true(node.resume().inferred && node.resume().jobs.empty());
  assert_int_equal(node.failures, 0);
  const NodeSet nodeset;
  const Owner owner(&nodeset);
  assert_true(plan_node(node, {owner, kNow}).kind == Action::Kind::create);
}

void an_inferred_resume_may_come_late(void**) {
  Node node = make_node(Node::Want::unknown, "", {});
  const SlurmNode powering_up = record({&SlurmNode::powering_up});
  reconcile_node(node, &powering_up, {kNow, true, "new", kNow});
  assert_true(is_late_resume(node, kNow + 59s));
  assert_false(is_late_resume(node, kNow + 61s));  // slurmctld asks again
  assert_false(is_late_resume(make_node(Node::Want::up, "r1", {}), kNow));
  node.confirm({7});
  assert_false(is_late_resume(node, kNow));
  assert_true(node.resume().jobs == std::vector<std::uint32_t>{7});
  node.end(kNow);
  assert_false(is_late_resume(node, kNow));
}

void repairs_what_a_record_shows(void**) {
  const auto cloud = [](SlurmNode node) {
    node.cloud = true;
    return node;
  };
  const auto drained = [](SlurmNode node, const char* reason) {
    node.draining = true;
    node.reason = reason;
    return node;
  };
  const SlurmNode off = cloud(record({&SlurmNode::powered_down}));
  const SlurmNode silent = cloud(record({&SlurmNode::powered_down, &SlurmNode::not_responding}));
  const SlurmNode leaving = cloud(record({&SlurmNode::powering_up, &SlurmNode::power_down_asked}));
  const SlurmNode failed = with_base(cloud(record({})), SlurmNode::Base::down, "slurm-k8s: pod is gone");
  const SlurmNode timed_out = with_base(off, SlurmNode::Base::down, "ResumeTimeout reached");
  const SlurmNode is_protected = drained(off, "slurm-k8s: protected: no image");
  const SlurmNode stuck = drained(off, "slurm-k8s: pod not deleted: still terminating");
  const RepairFacts owned{.owned = true};
  const struct {
    const char* name;
    SlurmNode record;
    RepairFacts facts;
    Repair repair;
  } cases[] = {
      {"well", cloud(record({}, true)), owned, Repair::none},
      {"set DOWN by us", failed, owned, Repair::back_off},
      {"so, and its NodeSet is gone", failed, {}, Repair::back_off},
      {"ResumeTimeout", timed_out, owned, Repair::back_off},
      {"so, of a node that was never ours", timed_out, {}, Repair::none},
      {"drained for a protection that nobody knows of", is_protected, owned, Repair::end_protection},
      {"so, and it lasts", is_protected, {.owned = true, .is_protected = true}, Repair::none},
      {"drained for a pod that has gone", stuck, owned, Repair::end_pod_drain},
      {"so, and the pod is there", stuck, {.owned = true, .has_old_pod = true}, Repair::none},
      {"drained by an administrator", drained(off, "disk check"), owned, Repair::none},
      {"powered down and allocated", with_base(off, SlurmNode::Base::allocated), owned, Repair::free},
      {"so, and none of ours", with_base(off, SlurmNode::Base::allocated), {}, Repair::none},
      {"powered down and silent", silent, owned, Repair::refresh},
      {"so, and none of ours", silent, {}, Repair::none},
      {"asked to go while it powers up", leaving, owned, Repair::power_down},
      {"so, and none of ours", leaving, {}, Repair::none},
      {"so, and a job has it", with_base(leaving, SlurmNode::Base::allocated), owned, Repair::none},
  };
  for (const auto& row : cases) {
    if (plan_repair(row.record, row.facts) != row.repair) fail_msg("%s", row.name);
  }
  const Node up = make_node(Node::Want::up, "r1", make_pod("u1", "r1"));
  assert_false(has_old_pod(up, record({}, true)));
  assert_true(has_old_pod(up, off));
  assert_true(has_old_pod(make_node(Node::Want::up, "r1", deleting(make_pod("u1", "r1"))), record({}, true)));
  assert_false(has_old_pod(make_node(Node::Want::up, "r1", {}), off));
}

void a_pod_that_the_watch_does_not_show_is_read(void**) {
  const Node node = seen(make_node(Node::Want::up, "r1", make_pod("u1", "r1")), 10s);
  assert_true(is_unseen(node, false, kNow));
  assert_false(is_unseen(node, true, kNow));
  assert_false(is_unseen(seen(node, 9s), false, kNow));
  assert_false(is_unseen(busy(node), false, kNow));
  assert_false(is_unseen(without_pod(node), false, kNow));
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(reconciles_with_slurm),
      SLURMK8S_TEST(notes_what_was_booting),
      SLURMK8S_TEST(finds_pods_whose_slurmds_will_not_register),
      SLURMK8S_TEST(selects_pods_that_no_job_has_begun_on),
      SLURMK8S_TEST(inferred_resume_after_a_back_off),
      SLURMK8S_TEST(an_inferred_resume_may_come_late),
      SLURMK8S_TEST(repairs_what_a_record_shows),
      SLURMK8S_TEST(a_pod_that_the_watch_does_not_show_is_read),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
