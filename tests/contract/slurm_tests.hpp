// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmctld answers, as tests: of FakeSlurm (fake_slurm.cc) and of a slurmctld (slurm_suite.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "slurm/slurm.hpp"

#include "support/cmocka.hpp"

namespace slurmk8s::contract {

/**
 * A Slurm without nodes or partitions beside the ones that the tests make, whose ResumeProgram and SuspendProgram do
 * nothing. The fixture of the program sets it.
 */
struct SlurmUnderTest {
  Slurm* slurm = nullptr;
  std::uint32_t held_job = 0;       ///< pending, and held by its user
  bool changes_exempt = true;       ///< SuspendExcNodes can be changed: Slurm 23.02
  bool refuses_known_names = true;  ///< a create of a node that is there fails: Slurm 23.11; before, it does nothing
  /** A create of a node that is there deletes it (_build_node_callback() in node_mgr.c of 24.11.5). */
  bool deletes_known_names = false;
  std::function<void()> wait;  ///< a moment, while Slurm goes on
};
extern SlurmUnderTest under_test;

std::vector<CMUnitTest> slurm_tests();

}  // namespace slurmk8s::contract
