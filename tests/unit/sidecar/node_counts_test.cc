// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/node_counts: in which states a record is counted, and which records are failures to power up.
#include "sidecar/node_counts.hpp"

#include <initializer_list>

#include "slurm/reasons.hpp"
#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

using namespace slurmk8s;

namespace {

using Base = SlurmNode::Base;

SlurmNode record(Base base, std::initializer_list<bool SlurmNode::*> flags, std::string reason = {}) {
  SlurmNode node = FakeSlurm::cloud_node("c-0");
  node.base = base;
  node.powered_down = false;
  for (const auto flag : flags) node.*flag = true;
  node.reason = std::move(reason);
  return node;
}

std::string names(const NodeCounts& counts) {
  const std::pair<const char*, std::int64_t> all[] = {
      {"ready", counts.ready},
      {"powered_up", counts.powered_up},
      {"powering_up", counts.powering_up},
      {"powering_down", counts.powering_down},
      {"powered_down", counts.powered_down},
      {"allocated", counts.allocated},
      {"idle", counts.idle},
      {"draining", counts.draining},
      {"down", counts.down},
  };
  std::string text;
  for (const auto& [name, count] : all) {
    if (count != 0) text += std::string(text.empty() ? "" : " ") + name;
  }
  return text;
}

void counts_records_by_state(void**) {
  const struct {
    SlurmNode record;
    const char* counted;
  } rows[] = {
      {record(Base::idle, {}), "ready powered_up idle"},
      {record(Base::mixed, {}), "ready powered_up allocated"},
      {record(Base::idle, {&SlurmNode::not_responding}), "powered_up idle"},
      {record(Base::mixed, {&SlurmNode::draining}), "powered_up allocated draining"},
      {record(Base::allocated, {&SlurmNode::powering_up}), "powering_up allocated"},
      {record(Base::idle, {&SlurmNode::powered_down}), "powered_down idle"},
      {record(Base::idle, {&SlurmNode::powered_down, &SlurmNode::draining}), "powered_down idle draining"},
      {record(Base::idle, {&SlurmNode::powering_down}), "powering_down idle"},
      {record(Base::mixed, {&SlurmNode::power_down_asked}), "powering_down allocated"},
      {record(Base::idle, {&SlurmNode::powering_down, &SlurmNode::powered_down}), "powered_down idle"},
      {record(Base::down, {}), "powered_up down"},
      {record(Base::idle, {&SlurmNode::has_suspended_job}), "ready powered_up allocated"},
  };
  NodeCounts sum;
  for (const auto& row : rows) {
    NodeCounts counts;
    counts.add(row.record);
    assert_text(names(counts), row.counted);
    assert_int_equal(counts.total, 1);
    sum.add(row.record);
  }
  assert_int_equal(sum.total, std::size(rows));
  assert_int_equal(sum.ready, 3);
}

void finds_failures_to_power_up(void**) {
  PowerUpFailures failures;
  failures.add(record(Base::idle, {}));
  failures.add(record(Base::down, {}, "broken disk"));
  failures.add(record(Base::idle, {&SlurmNode::draining}, kReasonUpdate));
  assert_true(failures.nodes.empty() && !failures.is_protected && failures.cause.empty());
  failures.add(record(Base::down, {&SlurmNode::powering_up}, "slurm-k8s: ErrImagePull: no such image"));
  assert_int_equal(failures.nodes.size(), 1);
  assert_false(failures.is_protected);
  assert_contains(failures.cause, "ErrImagePull");
  failures.add(record(Base::idle, {&SlurmNode::draining}, std::string(kReasonProtected) + "another cause"));
  assert_true(failures.is_protected);
  assert_int_equal(failures.nodes.size(), 1);
  assert_contains(failures.cause, "ErrImagePull");  // the first one
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(counts_records_by_state),
      SLURMK8S_TEST(finds_failures_to_power_up),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
