// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/spares: which nodes are kept up and idle.
#include "sidecar/spares.hpp"

#include <vector>

#include "nodeset/names.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using Change = void (*)(SlurmNode&);

void off(SlurmNode&) {}
void up(SlurmNode& node) { node.powered_down = false; }
void starting(SlurmNode& node) { up(node), node.powering_up = true; }
void asked_up(SlurmNode& node) { node.power_up_asked = true; }
void allocated(SlurmNode& node) { up(node), node.base = Base::allocated; }
void starting_for_a_job(SlurmNode& node) { allocated(node), node.powering_up = true; }
void completing(SlurmNode& node) { up(node), node.completing = true; }
void suspended_job(SlurmNode& node) { up(node), node.has_suspended_job = true; }
void going(SlurmNode& node) { up(node), node.powering_down = true; }
void asked_down(SlurmNode& node) { up(node), node.power_down_asked = true; }
void drained(SlurmNode& node) { up(node), node.draining = true; }
void drained_off(SlurmNode& node) { node.draining = true; }
void silent(SlurmNode& node) { up(node), node.not_responding = true; }
void down(SlurmNode& node) { up(node), node.base = Base::down; }
void unknown(SlurmNode& node) { up(node), node.base = Base::unknown; }
void reserved(SlurmNode& node) { up(node), node.reserved = true; }

/** Nodes c-0, c-1 … in the states given. */
std::string selected(const std::vector<Change>& states, std::int64_t count, const char* exempt = "",
                     const char* held = "") {
  std::vector<SlurmNode> nodes;
  for (const Change change : states) {
    nodes.push_back(FakeSlurm::cloud_node(node_name("c", std::ssize(nodes), 0)));
    change(nodes.back());
  }
  Members members;
  for (std::size_t i = 0; i < nodes.size(); i++) members.emplace(i, &nodes[i]);
  SuspendExemptions exemptions;
  exemptions.update({.suspend_exc_nodes = exempt});
  std::string text;
  for (const std::string_view name :
       select_spares({"c", count, members, exemptions, [&](const std::string& node) { return node == held; }})) {
    text += (text.empty() ? "" : " ") + std::string(name);
  }
  return text;
}

void none_that_a_job_could_not_have_at_once(void**) {
  for (const Change change : {allocated, starting_for_a_job, completing, suspended_job, going, asked_down, drained,
                              drained_off, silent, down, unknown, reserved}) {
    assert_text(selected({change, off}, 1), "c-1");
    assert_text(selected({change}, 1), "");
  }
}

void the_nearest_first(void**) {
  assert_text(selected({off, starting, up}, 1), "c-2");
  assert_text(selected({off, starting, up}, 2), "c-1 c-2");
  assert_text(selected({off, asked_up, off}, 1), "c-1");
  assert_text(selected({off, starting, up}, 3), "c-0 c-1 c-2");
  assert_text(selected({off, starting, up}, 9), "c-0 c-1 c-2");
  assert_text(selected({off, starting, up}, 0), "");
}

void stays_with_its_choice(void**) {
  assert_text(selected({up, up, up}, 1), "c-0");
  assert_text(selected({up, up, up}, 1, "c-1"), "c-1");
  assert_text(selected({up, up, up}, 2, "c-2"), "c-0 c-2");
  assert_text(selected({starting, starting}, 1, "c-1"), "c-1");
  assert_text(selected({up, starting}, 1, "c-1"), "c-0");  // a job could start on it now
  assert_text(selected({up, up}, 1, "c"), "c-0");          // all of them are, by the NodeSet's name
}

void leaves_backing_off_nodes_out(void**) {
  assert_text(selected({off, off}, 1, "", "c-0"), "c-1");
  assert_text(selected({off}, 1, "", "c-0"), "");
  assert_text(selected({up, off}, 1, "", "c-0"), "c-0");  // it is up: nothing is to be asked for
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(none_that_a_job_could_not_have_at_once),
      SLURMK8S_TEST(the_nearest_first),
      SLURMK8S_TEST(stays_with_its_choice),
      SLURMK8S_TEST(leaves_backing_off_nodes_out),
  };
  return cmocka_run_group_tests_name("sidecar_spares", tests, nullptr, nullptr);
}
