// SPDX-License-Identifier: GPL-2.0-or-later
// A real slurmctld, and our decoding of its answers. It is that of $SLURM_CONF; the program runs as its SlurmUser, and
// $SLURM_K8S_CONTRACT_JOB is a job that its user holds: slurm_on_slurmctld.sh.
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>

#include "base/strings.hpp"
#include "slurm/rpc/compat.hpp"
#include "slurm/rpc/rpc_slurm.hpp"
#include "slurm/slurm_state.hpp"
#include "slurm/tokens.hpp"

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
  under_test.deletes_known_names = compat::kCreateDeletesKnown;
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

template <typename Counts, typename Count>
bool has(const Counts& counts, Count count) {
  return counts[static_cast<std::size_t>(count)];
}

void assert_nodes(const SlurmState& state) {
  int nodes = 0;
  for (const StateNode& node : state.nodes) {
    if (node.name.empty()) continue;
    nodes++;
    assert_int_equal(node.cpus, 2);
    assert_int_equal(node.cpus_effective, 2);
    assert_int_equal(node.cpus_alloc, 0);
    assert_int_equal(node.memory, 936);
    assert_int_equal(node.memory_alloc, 0);
    assert_true(has(node.counts, NodeCount::idle) && has(node.counts, NodeCount::cloud));
    assert_true(has(node.counts, NodeCount::dyn_normal) && !has(node.counts, NodeCount::drain));
  }
  assert_int_equal(nodes, 4);
}

void tokens_of_a_user(void**) {
  const auto tokens = make_rpc_tokens();
  const auto booted = tokens->load_booted();
  assert_ok(booted);
  assert_true(*booted > 0 && *booted <= std::time(nullptr));
  // SlurmUser gets one for a name of no user.
  const auto token = tokens->make_token("ada", std::chrono::seconds(600));
  assert_ok(token);
  assert_int_equal(split(*token, '.').size(), 3);
  assert_true(tokens->make_token("ada", std::chrono::seconds(600)).value().starts_with(token->substr(0, 20)));
}

/** After all others, which have left k-[0-3]. Read twice: the second time nothing has changed. */
void slurms_state(void**) {
  const auto reader = make_rpc_state_reader();
  SlurmState state;
  for (int i = 0; i < 2; i++) {
    assert_ok(reader->refresh(state));
    assert_nodes(state);
    assert_int_equal(state.jobs.size(), 1);
    const StateJob& job = state.jobs.front();
    assert_true(has(job.counts, JobCount::pending) && has(job.counts, JobCount::hold));
    assert_text(job.partition, "main");
    assert_text(job.user, getpwuid(getuid())->pw_name);
    assert_text(job.reason, "JobHeldUser");
    assert_int_equal(job.tasks, 1);
    assert_int_equal(job.min_nodes, 1);
    assert_int_equal(state.partitions.size(), 1);
    const StatePartition& partition = state.partitions.front();
    assert_text(partition.name, "main");
    assert_int_equal(partition.nodes, 4);
    assert_int_equal(partition.cpus, 8);
    assert_int_equal(partition.members.size(), 4);
    for (const std::uint32_t place : partition.members) assert_true(state.nodes.at(place).name.starts_with("k-"));
    assert_true(state.statistics.size() >= 46);
  }
}

}  // namespace
}  // namespace slurmk8s::contract

int main() {
  using namespace slurmk8s::contract;
  std::vector<CMUnitTest> tests = slurm_tests();
  tests.push_back(SLURMK8S_TEST(tokens_of_a_user));
  tests.push_back(SLURMK8S_TEST(slurms_state));  // before there are other jobs and nodes
  for (const CMUnitTest& test : allocation_tests()) tests.push_back(test);
  return _cmocka_run_group_tests("contract_slurm", tests.data(), tests.size(), start, nullptr);
}
