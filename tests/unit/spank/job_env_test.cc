// SPDX-License-Identifier: GPL-2.0-or-later
// Changes of a job's environment: service variables, threads, GPUs.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/strings.hpp"
#include "spank/gpu_ids.hpp"
#include "spank/service_env.hpp"
#include "spank/thread_count.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

std::string shown(const EnvChanges& changes) {
  std::string text;
  for (const auto& [name, value] : changes) {
    text += (text.empty() ? "" : " ") + (value ? name + "=" + *value : "-" + name);
  }
  return text;
}

void service_variables(void**) {
  const struct {
    const char* names;
    const char* expected;
  } cases[] = {
      {"HOME PATH", ""},
      {"KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT "
       "KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_ADDR",
       "-KUBERNETES_PORT -KUBERNETES_PORT_443_TCP -KUBERNETES_PORT_443_TCP_ADDR -KUBERNETES_SERVICE_HOST "
       "-KUBERNETES_SERVICE_PORT -KUBERNETES_SERVICE_PORT_HTTPS"},
      {"KUBERNETES_SERVICE_HOST", "-KUBERNETES_SERVICE_HOST"},
      {"KUBERNETES_VERSION KUBERNETES_PORTAL KUBERNETES", ""},  // no variables of a service
      {"MY_DB_SERVICE_HOST MY_DB_SERVICE_PORT MY_DB_PORT MY_DB_PORT_5432_TCP_PROTO MY_DB_USER DB_PORT",
       "-MY_DB_PORT -MY_DB_PORT_5432_TCP_PROTO -MY_DB_SERVICE_HOST -MY_DB_SERVICE_PORT"},
      {"REDIS_SERVICE_HOST REDIS_PORT", ""},  // a user's: no port beside it
      {"_SERVICE_HOST _SERVICE_PORT", ""},
  };
  for (const auto& row : cases) assert_text(shown(without_services(split(row.names, ' '))), row.expected);
}

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

void gpus(void**) {
  const struct {
    const char* pod;
    const char* slurm;  // nullptr: CUDA_VISIBLE_DEVICES isn't set
    const char* expected;
  } cases[] = {
      {"GPU-a,GPU-b", "1", "CUDA_VISIBLE_DEVICES=GPU-b"},
      {"GPU-a,GPU-b,MIG-c/1", "1,0", "CUDA_VISIBLE_DEVICES=GPU-b,GPU-a"},
      {"GPU-a", nullptr, ""},       // CUDA shows what the container has
      {"GPU-a", "", ""},            // Slurm: none
      {"GPU-a", "NoDevFiles", ""},  // Slurm: none
      {"GPU-a", "GPU-a", ""},       // ids already
      {"4,7", "1", ""},             // of the machine: programs count the container's, as Slurm does
      {"0:0,0:1", "1", ""},
      {"", "0", ""},
      {"all", "0", ""},
      {"void", "0", ""},
      {"/var/run/nvidia-container-devices", "0", ""},
      {"GPU-a", "1", "error: CUDA_VISIBLE_DEVICES=1: the pod has 1 GPUs"},
      {"GPU-a", "99999999999999999999", "error: CUDA_VISIBLE_DEVICES=99999999999999999999: the pod has 1 GPUs"},
      {"GPU a", "0", "error: SLURM_K8S_GPUS: not a device list"},
      {"GPU-a,", "1", "error: SLURM_K8S_GPUS: not a device list"},
  };
  for (const auto& row : cases) {
    const auto changes = gpu_changes(row.pod, row.slurm ? std::optional<std::string>(row.slurm) : std::nullopt);
    assert_text(changes ? shown(*changes) : "error: " + changes.error().message(), row.expected);
  }
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(service_variables), SLURMK8S_TEST(threads), SLURMK8S_TEST(gpus)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
