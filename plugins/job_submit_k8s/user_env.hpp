// SPDX-License-Identifier: GPL-2.0-or-later
// The request for a user's login environment, which sbatch puts into a job's environment. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace slurmk8s {

/** Most variables that a batch job may bring: what is done here with them takes less than a millisecond. */
inline constexpr std::uint32_t kMaxVariables = 50000;

/** By this variable slurmd reads the user's login environment, and from 23.11 on ends where it may not clone. */
inline constexpr char kGetUserEnv[] = "SLURM_GET_USER_ENV=1";
/** By this one spank_k8s does (spank/login_env.hpp). Of the same length: it is written in its place. */
inline constexpr char kLoginEnv[] = "SLURM_K8S_USER_ENV=1";
static_assert(sizeof kGetUserEnv == sizeof kLoginEnv);

/**
 * Gives each kGetUserEnv among the first `count` of `environment` ("NAME=value" that may be written) the name of
 * kLoginEnv. It looks at no more than kMaxVariables, and at the first 20 bytes of each. Null pointers are skipped.
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
