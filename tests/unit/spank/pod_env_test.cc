// SPDX-License-Identifier: GPL-2.0-or-later
// pod.env: lines that enter a job's environment.
#include <string>

#include "spank/pod_env.hpp"

#include "support/cmocka.hpp"

using namespace slurmk8s;

namespace {

void lines(void**) {
  const struct {
    const char* text;
    const char* expected;  // "NAME=value;" each, or "error: " and part of the message
  } cases[] = {
      {"", ""},
      {"SLURM_K8S_POD=compute-1\nSLURM_K8S_NODE=node1\n", "SLURM_K8S_POD=compute-1;SLURM_K8S_NODE=node1;"},
      {"# note\n\n  SLURM_K8S_POD=a=b \n", "SLURM_K8S_POD=a=b;"},
      {"SLURM_K8S_POD=\n", "SLURM_K8S_POD=;"},
      {"PATH=/tmp\nLD_PRELOAD=x\nSLURM_K8S_POD=a", "SLURM_K8S_POD=a;"},
      {"SLURM_K8S_POD=a\nrubbish\n", "error: line 2"},
      {"=x\n", "error: line 1"},
  };
  for (const auto& row : cases) {
    const auto environment = parse_pod_env(row.text);
    std::string got = environment ? "" : "error: " + environment.error().message();
    if (environment) {
      for (const auto& [name, value] : *environment) got += name + "=" + value.value_or("?") + ";";
    }
    const bool same = environment ? got == row.expected : got.starts_with(row.expected) && *row.expected;
    if (!same) fail_msg("%s: %s", row.text, got.c_str());
  }
}

void another_pods_variables(void**) {
  const auto changes =
      without_other_pod({"HOME", "SLURM_K8S_POD", "SLURM_K8S_OMP_NUM_THREADS", "SLURM_JOB_ID", "SLURM_K8S_ZONE"});
  assert_int_equal(changes.size(), 2);
  assert_text(changes[0].name, "SLURM_K8S_POD");
  assert_text(changes[1].name, "SLURM_K8S_ZONE");
  assert_false(changes[0].value.has_value());
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {SLURMK8S_TEST(lines), SLURMK8S_TEST(another_pods_variables)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
