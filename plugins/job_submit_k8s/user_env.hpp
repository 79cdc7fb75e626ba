// SPDX-License-Identifier: GPL-2.0-or-later
// What changes in a batch job's environment: the request for a login environment, and tokens. Pure; any thread.
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

/** A user's token: slurmctld would save it, and the job's commands use it after its end. */
inline constexpr char kToken[] = "SLURM_JWT=";

/**
 * Removes each kToken among the `count` variables of `environment`, and ends them with a null pointer in the place of
 * the first one removed. The others keep their order. `release` ends a variable's memory. Returns how many are left.
 * With more than kMaxVariables it does nothing: the job is refused.
 */
template <typename Release>
std::uint32_t remove_tokens(char** environment, std::uint32_t count, Release release) {
  if (!environment || count > kMaxVariables) return count;
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (environment[i] && std::strncmp(environment[i], kToken, sizeof kToken - 1) == 0) {
      release(environment[i]);
    } else {
      environment[left++] = environment[i];
    }
  }
  if (left < count) environment[left] = nullptr;
  return left;
}

}  // namespace slurmk8s
