// SPDX-License-Identifier: GPL-2.0-or-later
// The user of an allocation, as a variable in the request's environment: "SLURM_K8S_ALLOCATION_USER=1000:100:ada".
// slurmctld takes the user of an allocation from the credential of who asks; job_submit/k8s reads this variable, from
// requests of SlurmUser and root. slurmctld keeps no environment of an allocation. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slurmk8s {

struct AllocationUser {
  std::uint32_t user = 0;   ///< uid
  std::uint32_t group = 0;  ///< gid
  std::string name = {};    ///< in Slurm's accounting; empty: slurmctld knows it by the uid
  bool operator==(const AllocationUser&) const = default;
};

/** Whether a user may have this name: of 256 bytes at most, without what the variable or sacctmgr divides by. */
bool is_user_name(std::string_view name);

/** The variable with its name. */
std::string encode_allocation_user(const AllocationUser& user);

/**
 * The user of the first such variable among the first `count` of `environment` ("NAME=value"; null pointers are
 * skipped). Empty when there is none, or its ids aren't numbers from 1 to 2³¹ - 1.
 */
std::optional<AllocationUser> find_allocation_user(const char* const* environment, std::uint32_t count);

}  // namespace slurmk8s
