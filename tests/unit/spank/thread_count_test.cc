// SPDX-License-Identifier: GPL-2.0-or-later
// spank/thread_count: OMP_NUM_THREADS of a batch script and of its steps.
#include "spank/thread_count.hpp"

#include <optional>
#include <string>

#include "support/cmocka.hpp"
#include "support/env_changes.hpp"

using namespace slurmk8s;

namespace {

constexpr Threads kOff{};
constexpr Threads kAuto{Threads::Mode::automatic, 0};
constexpr Threads kThree{Threads::Mode::fixed, 3};

void threads(void**) {
  using Text = std::optional<std::string>;
  const struct {
    const char* what;
    Threads threads;
    bool overrides;
    StepFacts step;  // batch, cpus, tasks, cpus_per_task, omp, ours
    const char* expected;
  } cases[] = {
      {"not asked for", kOff, false, {false, 4, 2, {}, {}, {}}, ""},
      {"a step's CPUs and tasks", kAuto, false, {false, 4, 2, {}, {}, {}}, "2"},
      {"more tasks than CPUs", kAuto, false, {false, 2, 8, {}, {}, {}}, "1"},
      {"nothing is known", kAuto, false, {false, 0, 0, {}, {}, {}}, "1"},
      {"a step's --cpus-per-task is what it has", kAuto, false, {false, 6, 2, Text("9"), {}, {}}, "3"},
      {"a batch script has the job's", kAuto, false, {true, 4, 1, {}, {}, {}}, "4"},
      {"a batch script's programs share them", kAuto, false, {true, 8, 1, Text("2"), {}, {}}, "2"},
      {"rubbish is none", kAuto, false, {true, 8, 1, Text("-2"), {}, {}}, "8"},
      {"a number", kThree, false, {false, 4, 1, {}, {}, {}}, "3"},
      {"a user's own", kAuto, false, {false, 4, 1, {}, Text("7"), {}}, ""},
      {"a user's own, beside ours of the batch script", kAuto, false, {false, 4, 1, {}, Text("7"), Text("8")}, ""},
      {"ours of the batch script", kAuto, false, {false, 4, 1, {}, Text("8"), Text("8")}, "4"},
      {"an option goes over a user's own", kThree, true, {false, 4, 1, {}, Text("7"), {}}, "3"},
      {"off by option leaves a user's own", kOff, true, {false, 4, 1, {}, Text("7"), {}}, ""},
      {"off by option takes ours back", kOff, true, {false, 4, 1, {}, Text("8"), Text("8")}, "-"},
  };
  for (const auto& row : cases) {
    std::string expected = row.expected;
    if (expected == "-")
      expected = "-OMP_NUM_THREADS -SLURM_K8S_OMP_NUM_THREADS";
    else if (!expected.empty())
      expected = "OMP_NUM_THREADS=" + expected + " SLURM_K8S_OMP_NUM_THREADS=" + expected;
    const std::string got = shown(thread_changes(row.threads, row.overrides, row.step));
    if (got != expected) fail_msg("%s: '%s', not '%s'", row.what, got.c_str(), expected.c_str());
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(threads),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
