// SPDX-License-Identifier: GPL-2.0-or-later
// The request for a user's login environment, which sbatch puts into a job's environment. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace slurmk8s {

/** Maximum number of a batch job's variables: the work on them takes less than a millisecond. */
inline constexpr std::uint32_t kMaxVariables = 50000;

/** Makes slurmd read the user's login environment; from 23.11 on slurmd ends where it may not clone. */
inline constexpr char kGetUserEnv[] = "SLURM_GET_USER_ENV=1";
/** Makes spank_k8s do so (spank/login_env.hpp). Of the same length: it is written in place. */
inline constexpr char kLoginEnv[] = "SLURM_K8S_USER_ENV=1";
static_assert(sizeof kGetUserEnv == sizeof kLoginEnv);

/**
 * Gives each kGetUserEnv among the first `count` of `environment` ("NAME=value" that may be written) the name of
 * kLoginEnv. Reads at most kMaxVariables, and the first 20 bytes of each. Skips null pointers.
 */
inline void leave_user_env_to_spank(char** environment, std::uint32_t count) {
  if (!environment) return;
  for (std::uint32_t i = 0; i < count && i < kMaxVariables; ++i) {
    if (environment[i] && std::strcmp(environment[i], kGetUserEnv) == 0) {
      std::memcpy(environment[i], kLoginEnv, sizeof kLoginEnv);
    }
  }
}

}  // namespace slurmk8s
