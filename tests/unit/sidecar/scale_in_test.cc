// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/scale_in: who goes first.
#include "sidecar/scale_in.hpp"

#include <functional>
#include <vector>

#include "slurm/hostlist.hpp"
#include "nodeset/names.hpp"
#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using Change = std::function<void(SlurmNode&)>;

void up(SlurmNode& node) { node.powered_down = false; }
void allocated(SlurmNode& node) { up(node), node.base = Base::allocated; }
void drained_by_us(SlurmNode& node) { node.draining = true, node.reason = kReasonScaleIn; }

/** Nodes c-0, c-1 … in the states given. */
struct Set {
  std::vector<SlurmNode> nodes;
  Pods pods;

  explicit Set(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      nodes.push_back(FakeSlurm::cloud_node(node_name("c", std::ssize(nodes), 0)));
      if (change) change(nodes.back());
    }
  }
  Set& cost(int ordinal, std::int32_t cost) {
    pods[node_name("c", ordinal, 0)].deletion_cost = cost;
    return *this;
  }
  /** Who leaves, when `count` are to: "0,3". */
  std::string removed(std::size_t count) const {
    Members members;
    for (std::size_t i = 0; i < nodes.size(); i++) members.emplace(i, &nodes[i]);
    std::string text;
    for (const std::int64_t ordinal : select_nodes_to_remove(members, count, pods)) {
      text += (text.empty() ? "" : ",") + std::to_string(ordinal);
    }
    return text;
  }
};

const Change kByLoss[] = {
    [](SlurmNode& n) { allocated(n), drained_by_us(n); },  // on its way out
    {},                                                    // powered down
    [](SlurmNode& n) { up(n), n.powering_down = true; },   // powering down
    [](SlurmNode& n) { up(n), n.draining = true, n.reason = "disk"; },
    [](SlurmNode& n) { up(n), n.powering_up = true; },
    up,
    [](SlurmNode& n) { allocated(n), n.draining = true, n.reason = "disk"; },
    allocated,
};

// Each state against each that costs more, at both ends of the ordinals: the order is one of states first.
void takes_what_costs_least(void**) {
  for (std::size_t cheap = 0; cheap < std::size(kByLoss); cheap++) {
    for (std::size_t dear = cheap + 1; dear < std::size(kByLoss); dear++) {
      const std::string first = Set({kByLoss[cheap], kByLoss[dear]}).cost(0, 5).removed(1);
      const std::string second = Set({kByLoss[dear], kByLoss[cheap]}).cost(1, 5).removed(1);
      if (first != "0" || second != "1") {
        fail_msg("states %zu and %zu: %s, %s", cheap, dear, first.c_str(), second.c_str());
      }
    }
  }
}

void counts_like_states_as_equal(void**) {
  const std::vector<Change> like[] = {
      {[](SlurmNode& n) { up(n), n.base = Base::down; }, [](SlurmNode& n) { up(n), n.draining = true; }},
      {allocated, [](SlurmNode& n) { up(n), n.base = Base::mixed; }},
      {allocated, [](SlurmNode& n) { up(n), n.completing = true; }},
      {allocated, [](SlurmNode& n) { n.base = Base::allocated; }},  // its job waits for the pod
      {allocated, [](SlurmNode& n) { allocated(n), n.powering_up = true; }},
      {allocated, [](SlurmNode& n) { n.reserved = true; }},
      {allocated, [](SlurmNode& n) { up(n), n.base = Base::unknown; }},
      {[](SlurmNode& n) { n.power_up_asked = true; }, [](SlurmNode& n) { up(n), n.powering_up = true; }},
  };
  for (const std::vector<Change>& pair : like) {
    assert_text(Set({pair[0], pair[1]}).removed(1), "1");
    assert_text(Set({pair[1], pair[0]}).removed(1), "1");
  }
}

void takes_the_lower_cost_then_the_higher_ordinal(void**) {
  Set set({up, up, up, up});
  assert_text(set.removed(1), "3");
  set.cost(3, 10).cost(1, -1);
  assert_text(set.removed(1), "1");
  assert_text(set.removed(2), "1,2");
  assert_text(set.removed(3), "0,1,2");
  assert_text(set.removed(9), "0,1,2,3");
  assert_text(set.removed(0), "");
}

// Whatever else becomes free meanwhile, and also when fewer have to go than before.
void stays_with_its_choice(void**) {
  Set set(
      {{}, up, [](SlurmNode& n) { allocated(n), drained_by_us(n); }, [](SlurmNode& n) { up(n), drained_by_us(n); }});
  assert_text(set.removed(2), "2,3");
  assert_text(set.removed(1), "3");  // the idle one of them
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(takes_what_costs_least),
      SLURMK8S_TEST(counts_like_states_as_equal),
      SLURMK8S_TEST(takes_the_lower_cost_then_the_higher_ordinal),
      SLURMK8S_TEST(stays_with_its_choice),
  };
  return cmocka_run_group_tests_name("sidecar_scale_in", tests, nullptr, nullptr);
}
