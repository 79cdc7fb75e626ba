// SPDX-License-Identifier: GPL-2.0-or-later
// pod.env: what the slurmd image's entrypoint wrote down about its pod. No Slurm; slurmstepd's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/** Where the image's entrypoint writes. */
inline constexpr const char* kPodEnvFile = "/run/slurm-k8s/pod.env";

/** The text of such a file; empty when there is none, on a node that is no pod. Errors as of read_file(). */
Result<std::string> read_pod_env(const std::string& path);

/**
 * The SLURM_K8S_* variables of `NAME=value` lines, in order. Lines that are empty or start with '#' are skipped, and
 * so is every other variable: this file must not be a way to set a job's PATH. Error (invalid): a line without '=',
 * with its number.
 */
Result<EnvChanges> parse_pod_env(std::string_view text);

/**
 * The removal of such variables among `names`: a job that was submitted from within another one brings that one's. What
 * tells steps of one job about each other (SLURM_K8S_OMP_NUM_THREADS) stays.
 */
EnvChanges without_other_pod(const std::vector<std::string_view>& names);

}  // namespace slurmk8s
