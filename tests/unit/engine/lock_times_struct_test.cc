// SPDX-License-Identifier: GPL-2.0-or-later
// engine/c_api/lock_times_struct: what a plugin counts reaches the engine; of another build nothing is read or
// written.
#include "engine/c_api/lock_times_struct.hpp"

#include <memory>

#include "support/cmocka.hpp"

using namespace slurmk8s;
using namespace std::chrono_literals;

namespace {

LockTimes counted() {
  LockTimes times;
  times[static_cast<std::size_t>(LockedCall::hold_launch)].observe(3us);
  times[static_cast<std::size_t>(LockedCall::hold_launch)].observe(5us);  // a bound is part of its bucket
  times[static_cast<std::size_t>(LockedCall::wake_power_save)].observe(2s);
  return times;
}

int plugin(slurm_k8s_lock_times* times) { return export_lock_times(counted(), times); }

/** A later build, which has another struct, answers the size that it does not know. */
int plugin_of_another_build(slurm_k8s_lock_times*) { return -1; }

void arrive_as_counted(void**) {
  const LockTimes times = import_lock_times(plugin);
  const LockTimes expected = counted();
  for (std::size_t call = 0; call < times.size(); ++call) {
    assert_true(times[call].counts() == expected[call].counts());
    assert_true(times[call].sum() == expected[call].sum());
  }
  assert_int_equal(times[0].counts()[0], 2);
  assert_int_equal(times[3].counts().back(), 1);
  assert_true(times[3].sum() == 2.0);
}

/** An engine with a smaller struct: a write would be behind its end, which a sanitizer sees. */
void an_engine_of_another_build_gets_nothing(void**) {
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), sizeof(slurm_k8s_lock_times) - 1, SIZE_MAX}) {
    const std::unique_ptr<std::size_t> times(new std::size_t(size));
    assert_int_equal(plugin(reinterpret_cast<slurm_k8s_lock_times*>(times.get())), -1);
    assert_int_equal(*times, size);
  }
}

void a_plugin_of_another_build_gives_nothing(void**) {
  for (const auto& histogram : import_lock_times(plugin_of_another_build)) {
    for (const std::uint64_t count : histogram.counts()) assert_int_equal(count, 0);
    assert_true(histogram.sum() == 0);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(arrive_as_counted),
      SLURMK8S_TEST(an_engine_of_another_build_gets_nothing),
      SLURMK8S_TEST(a_plugin_of_another_build_gives_nothing),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
