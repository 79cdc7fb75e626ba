// SPDX-License-Identifier: GPL-2.0-or-later
// FakeSlurm answers as a slurmctld does.
#include "contract/slurm_tests.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s::contract {
namespace {

constexpr std::uint32_t kJob = 7;

FakeSlurm fake;

int start(void**) {
  SlurmJob& job = fake.jobs[kJob];
  job.id = kJob;
  job.pending = job.held = true;
  under_test.slurm = &fake;
  under_test.held_job = kJob;
  under_test.wait = [] {};
  return 0;
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
  const std::vector<CMUnitTest> tests = slurm_tests();
  return _cmocka_run_group_tests("contract_fake_slurm", tests.data(), tests.size(), start, nullptr);
}
