// SPDX-License-Identifier: GPL-2.0-or-later
// engine/node: what belongs to one request, and what is left of it.
#include "engine/node.hpp"

#include "support/cmocka.hpp"
#include "support/plan_nodes.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

/** Up for job 7, with all that a request can have. */
Node used_node() {
  Node node = make_node(Node::Want::up, "r1", make_pod("u1", "r1"));
  node.begin({"r1", {7}, true}, kNow - 31s);
  node.progress = {PodOrder{"v1", std::nullopt}, true, true, true, true};
  node.told_stuck = true;
  node.failures = 3;
  return backing_off(missed(node, 5s));
}

bool has_progress(const Node& node) {
  const Progress& progress = node.progress;
  const bool was_refused = node.failures != 0 || node.not_before != TimePoint{};
  return was_refused || node.waiting_unasked_since != TimePoint{} || node.told_stuck || progress.order ||
         progress.had_pod || progress.had_older || progress.timed_scheduled || progress.timed_running;
}

void a_request_leaves_nothing_to_the_next(void**) {
  Node node = used_node();
  node.end(kNow);
  assert_true(node.want() == Node::Want::down && node.resume().id.empty() && node.resume().jobs.empty());
  assert_false(node.resume().inferred || has_progress(node));

  node = used_node();
  node.begin({"r2", {9}}, kNow);
  assert_true(node.is_wanted_up() && node.resume().jobs == std::vector<std::uint32_t>{9});
  assert_false(node.resume().inferred || has_progress(node));
}

void a_request_can_begin_again(void**) {
  Node node = used_node();
  node.begin_again("new", kNow);
  assert_text(node.resume().id, "r1");
  assert_true(node.resume().jobs == std::vector<std::uint32_t>{7} && node.progress.order && node.since() == kNow);
  assert_false(node.progress.had_pod || node.resume().inferred);
  for (const Node::Want want : {Node::Want::unknown, Node::Want::down, Node::Want::up}) {
    node = make_node(want, "", {});
    node.begin_again("new", kNow);
    assert_text(node.resume().id, "new");
    assert_true(node.is_wanted_up() && node.resume().inferred && !has_progress(node));
  }
}

void an_older_pod_that_serves_is_adopted(void**) {
  Node node = make_node(Node::Want::up, "r1", make_pod("u0", "r0"));
  node.adopt_pod();
  assert_text(node.resume().id, "r0");
  assert_true(node.has_current_pod() && node.progress.had_pod);
  node = with_older_pod_gone(make_node(Node::Want::up, "r1", make_pod("u0", "r0")));
  node.adopt_pod();
  assert_text(node.resume().id, "r1");
  assert_true(node.progress.had_pod);  // so that its absence is a loss
}

void what_a_starting_node_waits_for(void**) {
  using Kind = StartProblem::Kind;
  const auto pending = [](Kind kind, bool scheduled = false) {
    Pod pod = make_pod("u1", "r1");
    pod.running = false;
    pod.scheduled = scheduled;
    pod.start_problem.kind = kind;
    return pod;
  };
  Pod running = pending(Kind::none, true);
  running.running = true;
  Pod half = pending(Kind::failing, true);
  half.running = true;
  const struct {
    const char* name;
    Node node;
    const char* waits_for;
  } rows[] = {
      {"its pod runs", make_node(Node::Want::up, "r1", running), ""},
      {"its pod has ended", make_node(Node::Want::up, "r1", ended(pending(Kind::none), "Evicted")), ""},
      {"not to be up", make_node(Node::Want::down, "", {}), ""},
      {"not asked for yet", make_node(Node::Want::unknown, "", pending(Kind::none)), ""},
      {"no pod", make_node(Node::Want::up, "r1", {}), "api_server"},
      {"its pod is gone", with_pod_seen(make_node(Node::Want::up, "r1", {})), ""},
      {"of a former resume", make_node(Node::Want::up, "r2", make_pod("u1", "r1")), "former_pod"},
      {"being deleted", make_node(Node::Want::up, "r1", deleting(make_pod("u1", "r1"))), "former_pod"},
      {"being deleted with its jobs", with_pod_seen(make_node(Node::Want::up, "r1", deleting(running))), ""},
      {"just created", make_node(Node::Want::up, "r1", pending(Kind::none)), "scheduler"},
      {"without room", make_node(Node::Want::up, "r1", pending(Kind::unschedulable)), "unschedulable"},
      {"scheduled", make_node(Node::Want::up, "r1", pending(Kind::none, true)), "containers"},
      {"pulls", make_node(Node::Want::up, "r1", pending(Kind::creating, true)), "containers"},
      {"one of its containers can't start", make_node(Node::Want::up, "r1", half), "failing"},
      {"can't pull", make_node(Node::Want::up, "r1", pending(Kind::failing, true)), "failing"},
  };
  for (const auto& row : rows) {
    const auto awaited = awaited_by(row.node);
    if (std::string(awaited ? to_string(*awaited) : "") != row.waits_for) fail_msg("%s", row.name);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_request_leaves_nothing_to_the_next),
      SLURMK8S_TEST(a_request_can_begin_again),
      SLURMK8S_TEST(an_older_pod_that_serves_is_adopted),
      SLURMK8S_TEST(what_a_starting_node_waits_for),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
