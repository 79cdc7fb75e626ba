// SPDX-License-Identifier: GPL-2.0-or-later
// sidecar/open_jobs: when slurmctld is asked for jobs, and what is known until then.
#include "sidecar/open_jobs.hpp"

#include "support/cmocka.hpp"
#include "support/fake_clock.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct World {
  FakeSlurm slurm;
  FakeClock clock;
  OpenJobs jobs{clock};
  int asked = 0;
  milliseconds answer_takes{0};

  World() {
    slurm.on_load_jobs = [this] {
      ++asked;
      clock.advance(answer_takes);
    };
  }
  void put(std::uint32_t id, const char* suspended_on = "") {
    SlurmJob job;
    job.id = id;
    job.features = "v1";
    job.waits = *suspended_on == 0;
    job.suspended = !job.waits;
    job.suspended_on = suspended_on;
    slurm.jobs[id] = job;
    slurm.touch_jobs();
  }
  bool refresh(bool needed = true) { return jobs.refresh(slurm, needed); }
};

void only_changes_are_told(void**) {
  World world;
  world.put(7);
  assert_false(world.refresh(false));
  assert_int_equal(world.asked, 0);
  assert_true(world.refresh());
  assert_int_equal(world.jobs.jobs().size(), 1);
  assert_false(world.refresh());  // slurmctld says that nothing has changed
  world.slurm.touch_jobs();
  assert_false(world.refresh());  // something has, and not these
  assert_true(world.jobs.is_fresh());
  assert_true(world.refresh(false));  // forgotten
  assert_int_equal(world.jobs.jobs().size(), 0);
  assert_true(world.refresh());
}

void nodes_of_suspended_jobs_are_known(void**) {
  World world;
  world.put(7);
  world.put(8, "c-[0-1]");
  world.put(9, "c-[");  // not readable: none
  world.refresh();
  assert_true(world.jobs.suspended_on() == (std::set<std::string, std::less<>>{"c-0", "c-1"}));
  world.slurm.jobs.clear();
  world.slurm.touch_jobs();
  assert_true(world.refresh());
  assert_true(world.jobs.suspended_on().empty());
}

void a_slow_answer_is_not_asked_for_soon(void**) {
  World world;
  world.answer_takes = milliseconds(100);
  world.put(7);
  world.refresh();
  world.put(8);
  world.clock.advance(milliseconds(1999));
  assert_false(world.refresh());
  assert_false(world.jobs.is_fresh());
  assert_int_equal(world.jobs.jobs().size(), 1);
  world.clock.advance(milliseconds(1));
  assert_true(world.refresh());
  assert_true(world.jobs.is_fresh());
  assert_int_equal(world.asked, 2);
}

void what_was_known_outlives_an_error(void**) {
  World world;
  world.put(8, "c-0");
  world.refresh();
  world.slurm.fail_loads = true;
  world.slurm.failures = {Error(Errc::timeout, "x")};
  assert_false(world.refresh());
  assert_false(world.jobs.is_fresh());
  assert_int_equal(world.jobs.suspended_on().size(), 1);
  assert_false(world.refresh());  // all are asked for again: none has changed
  assert_true(world.jobs.is_fresh());
  assert_int_equal(world.asked, 2);
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(only_changes_are_told),
      SLURMK8S_TEST(nodes_of_suspended_jobs_are_known),
      SLURMK8S_TEST(a_slow_answer_is_not_asked_for_soon),
      SLURMK8S_TEST(what_was_known_outlives_an_error),
  };
  return cmocka_run_group_tests_name("sidecar_open_jobs", tests, nullptr, nullptr);
}
