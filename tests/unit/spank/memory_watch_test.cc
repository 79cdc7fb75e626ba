// SPDX-License-Identifier: GPL-2.0-or-later
// spank/memory_watch: a job over its limit is ended, and no other.
#include "spank/memory_watch.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>

#include "base/file.hpp"
#include "support/cmocka.hpp"
#include "support/memory_family.hpp"

using namespace slurmk8s;

namespace {

void pauses(void**) {
  const struct {
    std::uint64_t before;
    std::uint64_t used;
    int took;      // in microseconds
    int expected;  // in milliseconds
  } cases[] = {{0, 0, 0, 100},    {90, 80, 0, 100},     {10, 13, 0, 100},   {10, 14, 0, 20},
               {10, 14, 300, 20}, {10, 14, 12000, 600}, {0, 0, 12000, 600}, {9, 9, 1200000, 30000}};
  for (const auto& row : cases) {
    const auto pause = next_check(row.before, row.used, 100, std::chrono::microseconds(row.took));
    assert_int_equal(pause.count(), row.expected * 1000);
  }
}

char state_of(pid_t pid) {
  const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 8192);
  return text ? (*text)[text->rfind(')') + 2] : '?';
}

void a_job_over_its_limit_is_ended(void**) {
  std::atomic<int> calls = 0;
  std::atomic<std::uint64_t> used = 0;
  std::atomic<char> state = '-';
  int signal = 0;
  {
    Family family(80 * kMiB, 1);
    const pid_t first = family.first();
    const MemoryWatch watch({kNoJob, 50 * kMiB}, [&](std::uint64_t bytes) {
      calls++;
      used = bytes;
      state = state_of(first);
    });
    signal = family.signal(10000);
  }
  assert_int_equal(calls, 1);
  assert_in_range(used, 78 * kMiB, 110 * kMiB);
  assert_int_equal(state, 'T');  // it takes no more while slurmctld is told
  assert_int_equal(signal, SIGKILL);
}

void processes_over_it_together_are_ended(void**) {
  std::atomic<int> calls = 0;
  int signal = 0;
  {
    Family one(40 * kMiB, 3);
    Family two(40 * kMiB, 3);
    const MemoryWatch watch({kNoJob, 60 * kMiB}, [&](std::uint64_t) { calls++; });
    signal = one.signal(10000) == SIGKILL ? two.signal(10000) : -1;
  }
  assert_int_equal(calls, 1);
  assert_int_equal(signal, SIGKILL);
}

void a_job_within_its_limit_is_not(void**) {
  std::atomic<int> calls = 0;
  int signal = 0;
  {
    Family family(40 * kMiB, 6);  // 280 MiB, if each counted in full
    const MemoryWatch watch({kNoJob, 100 * kMiB}, [&](std::uint64_t) { calls++; });
    signal = family.signal(2500);
  }
  assert_int_equal(calls, 0);
  assert_int_equal(signal, 0);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(pauses),
      SLURMK8S_TEST(a_job_over_its_limit_is_ended),
      SLURMK8S_TEST(processes_over_it_together_are_ended),
      SLURMK8S_TEST(a_job_within_its_limit_is_not),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
