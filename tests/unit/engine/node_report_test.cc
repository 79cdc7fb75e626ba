// SPDX-License-Identifier: GPL-2.0-or-later
// engine/node_report: what slurmctld is asked for, by the record, and while the sidecar deletes some of several nodes.
#include "engine/node_report.hpp"

#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/deleted_nodes.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using World = DeletedNodes;
const std::vector<std::string>& kNodes = World::kNodes;

void powering_down(SlurmNode& node) {
  node.powered_down = false;
  node.powering_down = true;
}

void power_downs_are_ended_behind_a_deleted_node(void**) {
  World world({"c-1"}, powering_down);
  assert_true(finish_power_down(world.slurm, kNodes).ok());
  for (const char* name : {"c-0", "c-2", "c-3"}) {
    assert_true(world.slurm.node(name).powered_down);
    assert_false(world.slurm.node(name).powering_down);
  }
}

void several_are_deleted(void**) {
  World world({"c-0", "c-2", "c-1"}, powering_down);
  assert_true(finish_power_down(world.slurm, kNodes).ok());
  assert_true(world.slurm.node("c-3").powered_down);
  World all({"c-[0-3]"}, powering_down);
  assert_true(finish_power_down(all.slurm, kNodes).ok());
}

/** Those that have been changed already aren't changed again: they may have a job by now. */
void what_is_done_stays(void**) {
  World world({"c-2"}, powering_down);
  assert_true(finish_power_down(world.slurm, kNodes).ok());
  assert_text(world.slurm.calls.front(), "resume c-[0-3]");
  assert_text(world.slurm.calls.back(), "resume c-3");
}

void given_up_nodes_are_released_behind_a_deleted_node(void**) {
  World world({"c-0"}, [](SlurmNode& node) {
    node.base = Base::down;
    node.reason = std::string(kReason) + "image can't be pulled";
  });
  assert_true(release_nodes(world.slurm, kNodes).ok());
  for (const char* name : {"c-1", "c-2", "c-3"}) assert_true(world.slurm.node(name).power_down_asked);
}

void a_nodeset_is_protected_behind_a_deleted_node(void**) {
  World world({"c-1"}, [](SlurmNode&) {});
  assert_true(protect_nodeset(world.slurm, "c", "no quota").ok());
  for (const char* name : {"c-0", "c-2", "c-3"}) assert_true(world.slurm.node(name).draining);
  world.slurm.on_update = [&] {
    if (world.slurm.has("c-0")) assert_true(world.slurm.delete_nodes("c-0").ok());
  };
  assert_true(unprotect_nodeset(world.slurm, "c").ok());
  for (const char* name : {"c-2", "c-3"}) assert_false(world.slurm.node(name).draining);
}

struct Row {
  const char* name;
  std::function<void(SlurmNode&)> make;
  const char* calls;
};

/** Each row: a node c-0, powered down and idle but for what `make` changes, and what slurmctld is asked for. */
template <std::size_t N>
void check(const Row (&rows)[N], const std::function<Status(FakeSlurm&)>& report) {
  for (const Row& row : rows) {
    FakeSlurm slurm;
    row.make(slurm.node("c-0"));
    assert_ok(report(slurm));
    const std::string all = slurm.calls.empty() ? "" : slurm.calls.front();
    if (all != row.calls || slurm.calls.size() > 1) fail_msg("%s: %s", row.name, all.c_str());
  }
}

void ends_power_downs(void**) {
  const std::string resume_with_reason = std::string("resume c-0 ") + kReasonReleased;
  const Row rows[] = {
      {"its pod has gone", powering_down, "resume c-0"},
      {"drained by an administrator: resuming would take that back",
       [](SlurmNode& node) { powering_down(node), node.draining = true, node.reason = "disk check"; }, ""},
      {"drained since its pod didn't go",
       [](SlurmNode& node) {
         powering_down(node), node.draining = true, node.reason = std::string(kReasonNotDeleted) + "x";
       },
       resume_with_reason.c_str()},
      {"up again", [](SlurmNode& node) { node.powered_down = false; }, ""},
      {"a job is being completed", [](SlurmNode& node) { powering_down(node), node.completing = true; }, ""},
      {"DOWN", [](SlurmNode& node) { powering_down(node), node.base = Base::down; }, ""},
      {"not ours", [](SlurmNode& node) { powering_down(node), node.cloud = false; }, ""},
      {"SuspendTimeout was faster", [](SlurmNode&) {}, ""},
  };
  check(rows, [](FakeSlurm& slurm) {
    const bool is_off = slurm.node("c-0").powered_down;
    const Status status = finish_power_down(slurm, {"c-0"});
    assert_int_equal(slurm.scheduled, is_off);  // a job may wait for it
    return status;
  });
}

void releases_nodes_that_were_given_up(void**) {
  const Row rows[] = {
      {"by us", [](SlurmNode& node) { node.base = Base::down, node.reason = "slurm-k8s: x"; }, "power_down c-0"},
      {"ResumeTimeout", [](SlurmNode& node) { node.base = Base::down, node.reason = kReasonResumeTimeout; },
       "power_down c-0"},
      {"resumed by an administrator", [](SlurmNode& node) { node.not_responding = true; }, "power_down c-0"},
      {"an administrator's", [](SlurmNode& node) { node.base = Base::down, node.reason = "broken disk"; }, ""},
      {"asked already",
       [](SlurmNode& node) { node.base = Base::down, node.reason = "slurm-k8s: x", node.power_down_asked = true; }, ""},
      {"powered down and well", [](SlurmNode&) {}, ""},
      {"asked to go while it powers up",
       [](SlurmNode& node) { node.powered_down = false, node.powering_up = node.power_down_asked = true; },
       "power_down_force c-0"},
      {"so, and a job has it",
       [](SlurmNode& node) {
         node.powered_down = false, node.powering_up = node.power_down_asked = true, node.base = Base::allocated;
       },
       ""},
  };
  check(rows, [](FakeSlurm& slurm) { return release_nodes(slurm, {"c-0"}); });
  // What the record does not tell: a job was suspended there.
  const Row suspended[] = {
      {"asked to go while it powers up",
       [](SlurmNode& node) { node.powered_down = false, node.powering_up = node.power_down_asked = true; }, ""},
  };
  check(suspended, [](FakeSlurm& slurm) {
    slurm.nodes_of_jobs = {"c-[0-1]"};
    return release_nodes(slurm, {"c-0"});
  });
}

void protects_nodes_that_could_get_jobs(void**) {
  const Row rows[] = {
      {"free", [](SlurmNode&) {}, "drain c-0 slurm-k8s: protected: no quota"},
      {"asked to power up", [](SlurmNode& node) { node.power_up_asked = true; }, ""},
      {"drained by an administrator", [](SlurmNode& node) { node.draining = true; }, ""},
      {"up", [](SlurmNode& node) { node.powered_down = false; }, ""},
      {"DOWN", [](SlurmNode& node) { node.base = Base::down; }, ""},
      {"not ours", [](SlurmNode& node) { node.cloud = false; }, ""},
  };
  check(rows, [](FakeSlurm& slurm) { return protect_nodeset(slurm, "c", "no quota"); });
  check({{"of another NodeSet", [](SlurmNode&) {}, ""}},
        [](FakeSlurm& slurm) { return protect_nodeset(slurm, "d", "no quota"); });
  const Row drained[] = {
      {"by us", [](SlurmNode& node) { node.draining = true, node.reason = "slurm-k8s: protected: x"; }, "undrain c-0"},
      {"by an administrator", [](SlurmNode& node) { node.draining = true, node.reason = "disk check"; }, ""},
  };
  check(drained, [](FakeSlurm& slurm) { return unprotect_nodeset(slurm, "c"); });

  FakeSlurm daemons;  // named after Kubernetes nodes: the feature tells whose they are
  for (const char* name : {"gpu-a--x", "gpu-b", "gpu-7"}) daemons.node(name).features = "gpu";
  daemons.node("gpu-mine").features = "other";
  assert_ok(protect_nodeset(daemons, "gpu", "no quota"));
  assert_text(daemons.calls.front(), "drain gpu-7,gpu-a--x,gpu-b slurm-k8s: protected: no quota");
}

void powering_up(SlurmNode& node) {
  node.powered_down = false;
  node.powering_up = true;
}

void notes_what_nodes_wait_for(void**) {
  constexpr const char* kNoted = "update c-0 slurm-k8s: waiting: no room";
  const Row rows[] = {
      {"powering up", powering_up, kNoted},
      {"it waited for something else",
       [](SlurmNode& node) { powering_up(node), node.comment = "slurm-k8s: waiting: x"; }, kNoted},
      {"an administrator's comment stays", [](SlurmNode& node) { powering_up(node), node.comment = "mine"; }, ""},
      {"given up", [](SlurmNode& node) { powering_up(node), node.base = Base::down; }, ""},
      {"powered down", [](SlurmNode&) {}, ""},
      {"drained since its pod doesn't go",
       [](SlurmNode& node) { node.draining = true, node.reason = std::string(kReasonNotDeleted) + "x"; }, kNoted},
  };
  check(rows, [](FakeSlurm& slurm) { return note_waiting(slurm, {{{"c-0"}, {}, "no room"}}); });
  const Row noted[] = {
      {"over", [](SlurmNode& node) { node.comment = "slurm-k8s: waiting: x"; }, "update c-0"},
      {"an administrator's", [](SlurmNode& node) { node.comment = "mine"; }, ""},
  };
  check(noted, [](FakeSlurm& slurm) { return note_waiting(slurm, {{{"c-0"}, {}, ""}}); });

  FakeSlurm slurm;
  powering_up(slurm.node("c-0"));
  slurm.jobs[7].id = 7;
  slurm.jobs[8].admin_comment = "an administrator's";
  assert_ok(note_waiting(slurm, {{{"c-0"}, {7, 8}, "no room"}}));
  assert_text(slurm.comments[7], "slurm-k8s: waiting: c-0: no room");
  assert_text(slurm.jobs[8].admin_comment, "an administrator's");
  assert_ok(note_waiting(slurm, {{{"c-0"}, {7, 8}, ""}}));
  assert_text(slurm.comments[7], "");
}

// A zone is lost: each node waits for a Kubernetes node of its own.
void many_notes_need_one_list(void**) {
  FakeSlurm slurm;
  std::vector<WaitingNote> notes;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "c-" + std::to_string(i);
    powering_up(slurm.node(name));
    notes.push_back({{name}, {}, "kube node m-" + std::to_string(i)});
  }
  notes.push_back({{"c-99"}, {}, "not known"});
  assert_ok(note_waiting(slurm, notes));
  assert_int_equal(slurm.loads, 1);
  assert_int_equal(slurm.calls.size(), 20);
  assert_text(slurm.node("c-19").comment, "slurm-k8s: waiting: kube node m-19");
  // One that fails takes none of the others along.
  slurm.failures.push_back(Error(Errc::unavailable, "busy"));
  for (WaitingNote& note : notes) note.text += "!";
  assert_false(note_waiting(slurm, notes).ok());
  assert_text(slurm.node("c-0").comment, "slurm-k8s: waiting: kube node m-0");
  assert_text(slurm.node("c-19").comment, "slurm-k8s: waiting: kube node m-19!");
}

// Its record was saved when its job got it, the job's record when it had ended.
void frees_a_node_that_no_job_holds(void**) {
  const auto left = [](SlurmNode& node) { node.base = Base::allocated; };
  const auto nodes_of_jobs = [](const char* hostlist) {
    return [hostlist](FakeSlurm& slurm) {
      slurm.nodes_of_jobs = {"d-0", hostlist};
      const Status status = free_nodes(slurm, {"c-0"});
      slurm.pass_time();
      if (!slurm.calls.empty()) assert_true(slurm.node("c-0").base == Base::idle);
      if (slurm.calls.size() == 2) assert_text(slurm.calls[1], "power_down c-0");
      slurm.calls.resize(std::min<std::size_t>(slurm.calls.size(), 1));
      return status;
    };
  };
  check({{"no job has it", left, "down c-0 slurm-k8s: allocated without a job"}}, nodes_of_jobs("c-[1-2]"));
  check({{"a job has it", left, ""}}, nodes_of_jobs("c-[0-2]"));
  check({{"it is idle", [](SlurmNode&) {}, ""}}, nodes_of_jobs("c-[1-2]"));
}

/** A slurmctld that comes back with an older state may have thousands. */
void frees_many_nodes_by_one_list_of_jobs(void**) {
  FakeSlurm slurm;
  std::vector<std::string> nodes;
  for (int i = 0; i < 50; ++i) {
    nodes.push_back("c-" + std::to_string(i));
    slurm.node(nodes.back()).base = Base::allocated;
  }
  slurm.nodes_of_jobs = {"c-7"};
  int lists = 0;
  slurm.on_load_jobs = [&] { ++lists; };
  assert_ok(free_nodes(slurm, nodes));
  slurm.pass_time();
  assert_int_equal(lists, 1);
  for (const std::string& node : nodes) {
    assert_true((slurm.node(node).base == Base::allocated) == (node == "c-7"));
  }
}

/** Its pod did not start; job 7 waits for it. */
NodeFailure failed_start() { return {"c-0", "CrashLoopBackOff", {.is_start = true}, false, {7}}; }

void registered(SlurmNode& node) { node.powering_up = false, node.base = Base::allocated; }

/** Verdicts wait for their turn, and each job's AdminComment takes calls: its job may run by then. */
void a_node_that_has_come_up_meanwhile_stays(void**) {
  FakeSlurm slurm;
  slurm.jobs[7].id = 7;
  powering_up(slurm.node("c-0"));
  slurm.on_comment = [&] { registered(slurm.node("c-0")); };
  for (const bool at_once : {false, true}) {
    const auto verdict = fail_node(slurm, failed_start());
    assert_true(verdict.ok() && *verdict == Verdict::stay);
    assert_int_equal(slurm.calls.size(), 0);
    assert_text(slurm.jobs[7].admin_comment, "");
    assert_int_equal(slurm.comment_writes, 2);  // and nothing was said the second time
    if (!at_once) slurm.on_comment = {};
  }
}

/** What slurmctld refuses for another reason is an error, once. */
void another_error_is_told(void**) {
  World world({}, powering_down);
  world.slurm.failures = {Error(Errc::unavailable, "slurm: away")};
  assert_false(finish_power_down(world.slurm, kNodes).ok());
  assert_int_equal(world.slurm.calls.size(), 1);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(power_downs_are_ended_behind_a_deleted_node),
      SLURMK8S_TEST(several_are_deleted),
      SLURMK8S_TEST(what_is_done_stays),
      SLURMK8S_TEST(given_up_nodes_are_released_behind_a_deleted_node),
      SLURMK8S_TEST(a_nodeset_is_protected_behind_a_deleted_node),
      SLURMK8S_TEST(ends_power_downs),
      SLURMK8S_TEST(releases_nodes_that_were_given_up),
      SLURMK8S_TEST(protects_nodes_that_could_get_jobs),
      SLURMK8S_TEST(notes_what_nodes_wait_for),
      SLURMK8S_TEST(many_notes_need_one_list),
      SLURMK8S_TEST(frees_a_node_that_no_job_holds),
      SLURMK8S_TEST(frees_many_nodes_by_one_list_of_jobs),
      SLURMK8S_TEST(a_node_that_has_come_up_meanwhile_stays),
      SLURMK8S_TEST(another_error_is_told),
  };
  return cmocka_run_group_tests_name("engine_node_report", tests, nullptr, nullptr);
}
