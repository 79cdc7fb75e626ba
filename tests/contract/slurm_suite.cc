// SPDX-License-Identifier: GPL-2.0-or-later
// A real slurmctld, and our decoding of its answers. It is that of $SLURM_CONF; the program runs as its SlurmUser, and
// $SLURM_K8S_CONTRACT_JOB is a job that its user holds: slurm_on_slurmctld.sh.
#include <cstdlib>
#include <thread>

#include "base/strings.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurm/rpc/rpc_slurm.hpp"

#include "contract/allocation_tests.hpp"
#include "contract/slurm_tests.hpp"

namespace slurmk8s::contract {
namespace {

std::unique_ptr<Slurm> real;
std::unique_ptr<Allocations> real_allocations;

int start(void**) {
  const char* job = std::getenv("SLURM_K8S_CONTRACT_JOB");
  if (job == nullptr || std::getenv("SLURM_CONF") == nullptr) return -1;
  start_slurm_client();
  real = make_rpc_slurm();
  under_test.slurm = real.get();
  under_test.held_job = static_cast<std::uint32_t>(parse_int(job).value_or(0));
  under_test.changes_exempt = compat::kCanExempt;
  under_test.refuses_known_names = compat::kNodeAlreadyExists > 0;
  under_test.wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(500)); };
  real_allocations = make_rpc_allocations();
  allocations_under_test.allocations = real_allocations.get();
  allocations_under_test.wait = under_test.wait;
  // In places of the table that no node has had: compat::kReusedSlotIsUnseen.
  allocations_under_test.make_nodes = [] {
    assert_ok(make_rpc_slurm()->create_nodes("NodeName=n-[0-3] State=CLOUD CPUs=2 RealMemory=936"));
  };
  allocations_under_test.start = [](std::uint32_t) {};  // within its submission
  return 0;
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
  std::vector<CMUnitTest> tests = slurm_tests();
  for (const CMUnitTest& test : allocation_tests()) tests.push_back(test);
  return _cmocka_run_group_tests("contract_slurm", tests.data(), tests.size(), start, nullptr);
}
