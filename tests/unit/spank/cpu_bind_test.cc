// SPDX-License-Identifier: GPL-2.0-or-later
// spank/cpu_bind: which of the pod's CPUs a step gets, and when none are chosen.
#include "spank/cpu_bind.hpp"

#include <string>

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

std::string shown(const CpuList& cpus) {
  std::string text;
  for (const unsigned cpu : cpus) text += (text.empty() ? "" : " ") + std::to_string(cpu);
  return text;
}

void lists(void**) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"", ""},
      {"0", "0"},
      {"0-2,7", "0 1 2 7"},
      {"7,0-2,1", "0 1 2 7"},
      {"65535", "65535"},
      {"65536", "not a list of CPUs: 65536"},
      {"2-1", "not a list of CPUs: 2-1"},
      {"0-", "not a list of CPUs: 0-"},
      {"-1", "not a list of CPUs: -1"},
      {"0,,1", "not a list of CPUs: 0,,1"},
      {"[0-1]", "not a list of CPUs: [0-1]"},
      {"0-1:2", "not a list of CPUs: 0-1:2"},
      {"0-99999999999999999999", "not a list of CPUs: 0-99999999999999999999"},
  };
  for (const auto& c : cases) {
    const auto list = parse_cpu_list(c.text);
    assert_text(list ? shown(*list) : list.error().message(), c.expected);
  }
}

void cpus_of_a_step(void**) {
  const CpuList kPodCpus = {8, 9, 10, 11};  // by the kubelet's static CPU manager
  const struct {
    StepCpus step;  // cores, cpus, pod_cpus, bind_type, confined
    CpuList allowed;
    const char* expected;
  } cases[] = {
      {{"0", 1, 4, ""}, kPodCpus, "8"},
      {{"1-2", 2, 4, ""}, kPodCpus, "9 10"},
      {{"0,3", 2, 4, "cores"}, kPodCpus, "8 11"},
      {{"0-3", 4, 4, ""}, kPodCpus, "8 9 10 11"},
      {{"0", 1, 4, "none"}, kPodCpus, "not: --cpu-bind=none"},
      {{"0", 1, 4, "", true}, kPodCpus, "not: the pod has a confinement"},
      {{"0", 1, 0, ""}, kPodCpus, "not: SLURM_K8S_CPU_LIMIT is not set"},
      {{"0", 1, 2, ""}, kPodCpus, "not: the pod has 2 CPUs and may use 4: it shares them with others"},
      {{"0", 1, 5, ""}, kPodCpus, "not: the pod has 5 CPUs and may use 4: it shares them with others"},
      {{"", 1, 4, ""}, kPodCpus, "not: the step has no cores of its own"},
      {{"x", 1, 4, ""}, kPodCpus, "not: not a list of CPUs: x"},
      {{"0-1", 4, 4, ""}, kPodCpus, "not: 4 CPUs on cores 0-1: cores have several threads"},
      {{"3-4", 2, 4, ""}, kPodCpus, "not: 2 CPUs on cores 3-4: cores have several threads"},
  };
  for (const auto& c : cases) {
    std::string why;
    const auto cpus = choose_cpus(c.step, c.allowed, why);
    assert_text(cpus ? shown(*cpus) : "not: " + why, c.expected);
  }
}

void the_kernel_keeps_it(void**) {
  const auto before = allowed_cpus();
  assert_ok(before);
  assert_true(!before->empty());
  assert_ok(bind_to({before->back()}));
  assert_text(shown(*allowed_cpus()), shown({before->back()}));
  assert_ok(bind_to(*before));
  assert_text(shown(*allowed_cpus()), shown(*before));
  assert_error(bind_to({}), Errc::unavailable, "sched_setaffinity: Invalid argument");
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(lists),
      SLURMK8S_TEST(cpus_of_a_step),
      SLURMK8S_TEST(the_kernel_keeps_it),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
