// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/node_changes: one change of several records, some of which are deleted meanwhile.
#include "slurm/node_changes.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;

namespace {

using Names = std::vector<std::string>;
using State = SlurmNodeUpdate::State;

bool is_not_drained(const SlurmNode& node) { return !node.draining; }

void selects_by_name_and_record(void**) {
  FakeSlurm slurm;
  for (const char* name : {"c-0", "c-1", "c-2"}) slurm.node(name);
  slurm.node("c-1").draining = true;
  const Names names{"c-1", "c-2", "gone"};
  const struct {
    const Names* names;
    Names selected;
  } rows[] = {{nullptr, {"c-0", "c-2"}}, {&names, {"c-2"}}};
  for (const auto& row : rows) {
    const auto selected = select_nodes(slurm, row.names, is_not_drained);
    assert_ok(selected);
    assert_true(*selected == row.selected);
  }
  slurm.fail_loads = true;
  slurm.failures = {Error(Errc::timeout, "x")};
  assert_error(select_nodes(slurm, nullptr, is_not_drained), Errc::timeout, "x");
}

void changes_all_in_one_call(void**) {
  FakeSlurm slurm;
  for (const char* name : {"c-0", "c-1"}) slurm.node(name);
  assert_ok(change_nodes(slurm, {}, update_to(State::drain, "why"), is_not_drained));
  assert_int_equal(slurm.calls.size(), 0);
  assert_ok(change_nodes(slurm, {"c-0", "c-1"}, update_to(State::drain, "why"), is_not_drained));
  assert_true(slurm.calls == Names{"drain c-[0-1] why"});
}

void deleted_nodes_do_not_cost_the_others_their_change(void**) {
  FakeSlurm slurm;
  for (const char* name : {"c-0", "c-2"}) slurm.node(name);
  assert_ok(change_nodes(slurm, {"c-0", "c-1", "c-2"}, update_to(State::drain, "why"), is_not_drained));
  assert_true(slurm.node("c-0").draining && slurm.node("c-2").draining);
  assert_ok(change_nodes(slurm, {"gone"}, update_to(State::drain, "why"), is_not_drained));  // nothing is left to do
}

void other_errors_are_told_at_once(void**) {
  FakeSlurm slurm;
  slurm.node("c-0");
  slurm.failures = {Error(Errc::timeout, "x")};
  assert_error(change_nodes(slurm, {"c-0"}, update_to(State::drain, "why"), is_not_drained), Errc::timeout, "x");
  assert_int_equal(slurm.calls.size(), 1);
}

void tries_are_bounded(void**) {
  FakeSlurm slurm;
  slurm.node("c-0");
  slurm.failures.assign(100, Error(Errc::not_found, "x"));
  assert_error(change_nodes(slurm, {"c-0"}, update_to(State::drain, "why"), is_not_drained), Errc::not_found, "x");
  assert_int_equal(slurm.calls.size(), 5);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(selects_by_name_and_record),
      SLURMK8S_TEST(changes_all_in_one_call),
      SLURMK8S_TEST(deleted_nodes_do_not_cost_the_others_their_change),
      SLURMK8S_TEST(other_errors_are_told_at_once),
      SLURMK8S_TEST(tries_are_bounded),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
