// SPDX-License-Identifier: GPL-2.0-or-later
// FakeSlurm and FakeAllocations answer as a slurmctld does.
#include "contract/allocation_tests.hpp"
#include "contract/slurm_tests.hpp"
#include "support/fake_allocations.hpp"
#include "support/fake_slurm.hpp"

namespace slurmk8s::contract {
namespace {

constexpr std::uint32_t kJob = 7;

FakeSlurm fake;
FakeAllocations fake_allocations;

int start(void**) {
  SlurmJob& job = fake.jobs[kJob];
  job.id = kJob;
  job.pending = job.held = true;
  fake.job_needs = {{kJob, job.partitions, "", ""}};
  under_test.slurm = &fake;
  under_test.held_job = kJob;
  under_test.wait = [] {};
  allocations_under_test.allocations = &fake_allocations;
  allocations_under_test.knows_partitions = false;
  allocations_under_test.wait = [] {};
  allocations_under_test.make_nodes = [] {};
  allocations_under_test.start = [](std::uint32_t id) {
    const AllocationRequest& request = fake_allocations.requests.at(id);
    std::vector<std::string> nodes = request.only_nodes;
    if (nodes.empty()) nodes = {"n-0", "n-1", "n-2", "n-3"};
    for (const std::string& name : request.not_nodes) std::erase(nodes, name);
    fake_allocations.start(id, {{nodes.front(), 1}});
  };
  return 0;
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
  std::vector<CMUnitTest> tests = slurm_tests();
  for (const CMUnitTest& test : allocation_tests()) tests.push_back(test);
  return _cmocka_run_group_tests("contract_fake_slurm", tests.data(), tests.size(), start, nullptr);
}
