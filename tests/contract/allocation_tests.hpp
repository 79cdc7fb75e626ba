// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld answers about allocations, as tests: of FakeAllocations (fake_slurm.cc) and of a slurmctld
// (slurm_suite.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "slurm/allocations.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::contract {

/** A Slurm without jobs that run. */
struct AllocationsUnderTest {
  Allocations* allocations = nullptr;
  bool knows_partitions = true;              ///< it refuses a partition that it doesn't have
  std::function<void()> wait;                ///< a moment, while Slurm goes on
  std::function<void()> make_nodes;          ///< four idle nodes, in the default partition
  std::function<void(std::uint32_t)> start;  ///< a job that could run gets its nodes
};
extern AllocationsUnderTest allocations_under_test;

std::vector<CMUnitTest> allocation_tests();

}  // namespace slurmk8s::contract
