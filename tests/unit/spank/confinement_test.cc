// SPDX-License-Identifier: GPL-2.0-or-later
// spank/confinement: what is written into the control groups of a job and its step.
#include "spank/confinement.hpp"

#include <string>

#include "base/file.hpp"
#include "support/cmocka.hpp"
#include "support/temporary_folder.hpp"

using namespace slurmk8s;

namespace {

std::string shown(const Result<PodConfinement>& pod) {
  if (!pod) return pod.error().message();
  return std::to_string(pod->cpus) + " " + std::to_string(pod->threads) + (pod->own_cpus ? " own" : "");
}

void the_entrypoints_file(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"cpus=2 threads=1 own=yes\n", "2 1 own"},
      {"cpus=64 threads=2 own=no", "64 2"},
      {"cpus=8", "8 1"},
      {"", ": unknown"},
      {"threads=1 own=yes", "cpus: required"},
      {"cpus=0", "cpus=0: must be a number from 1 to 65535"},
      {"cpus=65536", "cpus=65536: must be a number from 1 to 65535"},
      {"cpus=x", "cpus=x: must be a number from 1 to 65535"},
      {"cpus=2 threads=0", "threads=0: must be a number from 1 to 65535"},
      {"cpus=2 own=perhaps", "own=perhaps: unknown"},
      {"cpus=2 cores=3", "cores=3: unknown"},
      {"cpus", "cpus: must be a number from 1 to 65535"},
  };
  for (const auto& c : cases) assert_text(shown(parse_pod_confinement(c.text)), c.expected);
}

std::string shown(const Result<std::vector<CgroupFile>>& files) {
  if (!files) return files.error().message();
  std::string text;
  for (const CgroupFile& file : *files) text += file.name + ": " + file.text + "\n";
  return text;
}

void what_is_written(void**) {
  const std::string step = "0::/system.slice/c-0_slurmstepd.scope/job_7/step_0/slurm\n";
  const std::string job_folder = "/system.slice/c-0_slurmstepd.scope/job_7";
  const auto files = [](const std::string& job, const std::string& name, const char* job_time, const char* job_cpus,
                        const char* step_time, const char* step_cpus) {
    std::string text = job + "/cpu.max: " + job_time + " 100000\n";
    if (*job_cpus) text += job + "/cpuset.cpus: " + job_cpus + "\n";
    text += job + "/" + name + "/cpu.max: " + step_time + " 100000\n";
    if (*step_cpus) text += job + "/" + name + "/cpuset.cpus: " + step_cpus + "\n";
    return text;
  };
  const PodConfinement own{.cpus = 4, .threads = 1, .own_cpus = true};
  const PodConfinement shared{.cpus = 4, .threads = 1, .own_cpus = false};
  const PodConfinement two_threads{.cpus = 4, .threads = 2, .own_cpus = true};
  const CpuList by_the_kubelet = {8, 9, 10, 11};
  const char* const none =
      "the job has no control group: slurm.conf needs TaskPlugin=task/cgroup and SelectTypeParameters with memory";
  const struct {
    const char* name;
    PodConfinement pod;
    std::string group;
    JobCores cores;
    CpuList cpus;
    std::string expected;
  } cases[] = {
      {"CPUs of its own, in the kubelet's numbers",
       own,
       step,
       {"0-2", "1"},
       by_the_kubelet,
       files(job_folder, "step_0", "300000", "8,9,10", "100000", "9")},
      {"a batch script has all",
       own,
       "0::/x/job_12/step_batch/slurm",
       {"0,3", "0,3"},
       by_the_kubelet,
       files("/x/job_12", "step_batch", "200000", "8,11", "200000", "8,11")},
      {"shared with other pods: time alone",
       shared,
       step,
       {"0-2", "1"},
       by_the_kubelet,
       files(job_folder, "step_0", "300000", "", "100000", "")},
      {"more CPUs than the pod's: they are shared",
       own,
       step,
       {"0", "0"},
       {0, 1, 2, 3, 4, 5},
       files(job_folder, "step_0", "100000", "", "100000", "")},
      {"fewer", own, step, {"0", "0"}, {0, 1}, files(job_folder, "step_0", "100000", "", "100000", "")},
      {"cores with several threads",
       two_threads,
       step,
       {"0-1", "1"},
       by_the_kubelet,
       files(job_folder, "step_0", "400000", "", "200000", "")},
      {"the cgroup version 1 of another hierarchy before it",
       shared,
       "1:name=systemd:/job_1/step_1\n" + step,
       {"0", "0"},
       {},
       files(job_folder, "step_0", "100000", "", "100000", "")},
      {"a pod in a folder with such a name",
       shared,
       "0::/job_1/step_1/job_7/step_2/user/task_0",
       {"0", "0"},
       {},
       files("/job_1/step_1/job_7", "step_2", "100000", "", "100000", "")},
      {"Slurm 26.05: a job's SLUID",
       own,
       "0::/system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0/slurm\n",
       {"0-2", "1"},
       by_the_kubelet,
       files("/system.slice/slurmstepd.scope/sEKNKTV3WPV500", "step_0", "300000", "8,9,10", "100000", "9")},
      {"Slurm 26.05: a batch script",
       shared,
       "0::/system.slice/c-0_slurmstepd.scope/sEKNKTV3WPV500/step_batch/user/task_0",
       {"0", "0"},
       {},
       files("/system.slice/c-0_slurmstepd.scope/sEKNKTV3WPV500", "step_batch", "100000", "", "100000", "")},
      {"a step without a job", own, "0::/step_0/slurm\n", {"0", "0"}, by_the_kubelet, none},
      {"no TaskPlugin", own, "0::/system\n", {"0", "0"}, by_the_kubelet, none},
      {"no step", own, "0::/job_7\n", {"0", "0"}, by_the_kubelet, none},
      {"cgroup version 1", own, "4:memory:/job_7/step_0\n", {"0", "0"}, by_the_kubelet, none},
      {"nothing", own, "", {"0", "0"}, by_the_kubelet, none},
      {"no cores", own, step, {"", "0"}, by_the_kubelet, "cores \"\" of a node with 4 CPUs"},
      {"cores that the node has not", own, step, {"0", "4"}, by_the_kubelet, "cores \"4\" of a node with 4 CPUs"},
      {"a text", own, step, {"x", "0"}, by_the_kubelet, "not a list of CPUs: x"},
  };
  for (const auto& c : cases) {
    const std::string text = shown(plan_cgroups(c.pod, c.group, c.cores, c.cpus));
    if (text != c.expected) fail_msg("%s: %s", c.name, text.c_str());
  }
}

void files_are_read_and_written(void**) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/confinement";
  auto pod = read_pod_confinement(path);
  assert_ok(pod);
  assert_false(pod->has_value());
  folder.write("confinement", "cpus=2 threads=1 own=no\n");
  pod = read_pod_confinement(path);
  assert_ok(pod);
  assert_int_equal((*pod)->cpus, 2);
  folder.write("confinement", "cpus=2 x");
  assert_error(read_pod_confinement(path), Errc::invalid, "x: unknown");

  folder.write("cpu.max", "");
  assert_ok(write_cgroups(folder.path(), {{"/cpu.max", "100000 100000"}}));
  assert_text(*read_file(folder.path() + "/cpu.max", 100), "100000 100000");
  assert_error(write_cgroups(folder.path(), {{"/none/cpu.max", "1"}}), Errc::unavailable,
               "/none/cpu.max: write \"1\": No such file or directory");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(the_entrypoints_file),
      SLURMK8S_TEST(what_is_written),
      SLURMK8S_TEST(files_are_read_and_written),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
