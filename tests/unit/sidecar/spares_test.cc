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

/** Up, or starting, as a variant. */
void up_as_v1(SlurmNode& node) { up(node), node.active_features = "c,v1"; }
void up_as_v2(SlurmNode& node) { up(node), node.active_features = "c,v2"; }
void starting_as_v1(SlurmNode& node) { starting(node), node.active_features = "c,v1"; }

/** Of nodes c-0, c-1 … in the states given: "c-0 c-1=v1". The NodeSet has variants v1 and v2. */
std::string selected(const std::vector<Change>& states, const SpareReplicas& replicas, const char* exempt = "",
                     const char* held = "") {
  NodeSet nodeset;
  nodeset.name = "c";
  nodeset.variants = {{"v1", {}}, {"v2", {}}};
  nodeset.spare_replicas = replicas;
  std::vector<SlurmNode> nodes;
  for (const Change change : states) {
    nodes.push_back(FakeSlurm::cloud_node(node_name("c", std::ssize(nodes), 0)));
    nodes.back().active_features = "c";
    change(nodes.back());
  }
  Members members;
  for (std::size_t i = 0; i < nodes.size(); i++) members.emplace(i, &nodes[i]);
  SuspendExemptions exemptions;
  exemptions.update({.suspend_exc_nodes = exempt});
  std::string text;
  for (const auto& [name, variant] :
       select_spares({nodeset, members, exemptions, [&](const std::string& node) { return node == held; }})) {
    text += (text.empty() ? "" : " ") + std::string(name);
    if (!variant.empty()) text += "=" + std::string(variant);
  }
  return text;
}
std::string selected(const std::vector<Change>& states, std::int64_t count, const char* exempt = "",
                     const char* held = "") {
  return selected(states, {{"", count}}, exempt, held);
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

void of_variants(void**) {
  const SpareReplicas one_each = {{"", 1}, {"v1", 1}};
  const struct {
    const char* title;
    std::vector<Change> states;
    SpareReplicas replicas;
    const char* expected;
  } cases[] = {
      {"powered-down nodes take any variant", {off, off, off}, one_each, "c-0 c-1=v1"},
      {"a node that is up keeps its variant", {up_as_v1, off}, one_each, "c-0=v1 c-1"},
      {"so does one that starts", {starting_as_v1, up}, one_each, "c-0=v1 c-1"},
      {"one of another variant is none", {up_as_v2, off}, {{"v1", 1}}, "c-1=v1"},
      {"one with a variant is none without", {up_as_v1, off}, {{"", 1}}, "c-1"},
      {"one without a variant is none of a variant", {up, off}, {{"v1", 1}}, "c-1=v1"},
      {"too few: those without a variant come first", {off}, one_each, "c-0"},
      {"too few: by the names of variants", {off}, {{"v1", 1}, {"v2", 1}}, "c-0=v1"},
      {"the nearest of a variant", {off, starting_as_v1, up_as_v1}, {{"v1", 1}}, "c-2=v1"},
      {"several", {up_as_v2, off, up_as_v1, off}, {{"v1", 2}, {"v2", 2}}, "c-0=v2 c-1=v1 c-2=v1 c-3=v2"},
  };
  for (const auto& c : cases) {
    print_message("%s\n", c.title);
    assert_text(selected(c.states, c.replicas), c.expected);
  }
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
      SLURMK8S_TEST(of_variants),
  };
  return cmocka_run_group_tests_name("sidecar_spares", tests, nullptr, nullptr);
}
