// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/cancelled_starts: which nodes no job waits for any more.
#include "sidecar/cancelled_starts.hpp"

#include "support/cmocka.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using Base = SlurmNode::Base;
using std::chrono::seconds;

/** How slurmctld shows c-0, and whether it is due then and 5 s later. */
struct Sight {
  Base base;
  bool powering_up = false;
  bool going_down = false;
};

bool is_due(const std::vector<Sight>& sights) {
  CancelledStarts starts;
  TimePoint now{};
  for (const Sight& sight : sights) {
    SlurmNode node = FakeSlurm::cloud_node("c-0");
    node.powered_down = false;
    node.base = sight.base;
    node.powering_up = sight.powering_up;
    node.power_down_asked = sight.going_down;
    starts.observe({node}, now);
    assert_true(starts.due(now).empty());
    now += seconds(1);
  }
  now += seconds(5);
  return starts.due(now).contains("c-0");
}

void a_start_without_its_job_is_due(void**) {
  const Sight job_waits{Base::allocated, true}, job_runs{Base::allocated}, idle{Base::idle}, starting{Base::idle, true};
  assert_true(is_due({job_waits, starting}));
  assert_true(is_due({job_waits, starting, idle}));  // it came up all the same
  assert_true(is_due({{Base::mixed, true}, starting}));
  assert_true(is_due({job_waits, starting, job_waits, starting}));
  assert_false(is_due({job_waits}));
  assert_false(is_due({job_waits, idle}));  // its job may have run and ended
  assert_false(is_due({job_waits, job_runs, idle}));
  assert_false(is_due({job_waits, starting, job_waits}));
  assert_false(is_due({job_waits, starting, job_runs, idle}));
  assert_false(is_due({starting, idle}));  // an administrator's, or kept up
  assert_false(is_due({job_waits, starting, {Base::idle, true, true}}));
  assert_false(is_due({job_waits, {Base::down, true}}));
}

void says_when_to_look_again(void**) {
  CancelledStarts starts;
  SlurmNode node = FakeSlurm::cloud_node("c-0");
  node.powering_up = true;
  node.base = Base::allocated;
  const TimePoint begin{};
  starts.observe({node}, begin);
  assert_false(starts.next(begin).has_value());
  node.base = Base::idle;
  starts.observe({node}, begin);
  assert_true(starts.next(begin) == begin + seconds(5));
  assert_false(starts.next(begin + seconds(5)).has_value());
  assert_true(starts.due(begin + seconds(4)).empty());
  starts.observe({}, begin);
  assert_false(starts.next(begin).has_value());
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(a_start_without_its_job_is_due),
      SLURMK8S_TEST(says_when_to_look_again),
  };
  return cmocka_run_group_tests_name("sidecar_cancelled_starts", tests, nullptr, nullptr);
}
