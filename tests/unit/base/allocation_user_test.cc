// SPDX-License-Identifier: GPL-2.0-or-later
// base/allocation_user: the variable that job_submit/k8s reads is the one that the request has.
#include "base/allocation_user.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

void there_and_back(void**) {
  const std::string variable = encode_allocation_user({1000, 100});
  assert_text(variable, "SLURM_K8S_ALLOCATION_USER=1000:100");
  const char* environment[] = {nullptr, "PATH=/bin", variable.c_str(), "SLURM_K8S_ALLOCATION_USER=7:7"};
  assert_true(find_allocation_user(environment, 4) == AllocationUser({1000, 100}));
  assert_false(find_allocation_user(environment, 2).has_value());
  assert_false(find_allocation_user(nullptr, 4).has_value());
  const std::string named = encode_allocation_user({1000, 100, "ada"});
  assert_text(named, "SLURM_K8S_ALLOCATION_USER=1000:100:ada");
  environment[2] = named.c_str();
  assert_true(find_allocation_user(environment, 4) == AllocationUser({1000, 100, "ada"}));
}

void no_user(void**) {
  const char* const cases[] = {
      "SLURM_K8S_ALLOCATION_USER=",
      "SLURM_K8S_ALLOCATION_USER=1000",
      "SLURM_K8S_ALLOCATION_USER=0:100",
      "SLURM_K8S_ALLOCATION_USER=1000:0",
      "SLURM_K8S_ALLOCATION_USER=-5:100",
      "SLURM_K8S_ALLOCATION_USER=a:b",
      "SLURM_K8S_ALLOCATION_USER=1:2:",
      "SLURM_K8S_ALLOCATION_USER=1:2:a b",
      "SLURM_K8S_ALLOCATION_USER=1:2:a:b",
      "XSLURM_K8S_ALLOCATION_USER=1000:10",
      "SLURM_K8S_ALLOCATION_USER=4294967294:1",
      "SLURM_K8S_ALLOCATION_USERS=1:1",
      "SLURM_K8S_ALLOCATION_USER=1 :1",
      "SLURM_K8S_ALLOCATION_USER=2147483648:1",
      "",
  };
  for (const char* variable : cases) {
    if (find_allocation_user(&variable, 1)) fail_msg("%s: a user", variable);
  }
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {SLURMK8S_TEST(there_and_back), SLURMK8S_TEST(no_user)};
  return cmocka_run_group_tests_name("base_allocation_user", tests, nullptr, nullptr);
}
