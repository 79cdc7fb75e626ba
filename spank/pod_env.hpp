// SPDX-License-Identifier: GPL-2.0-or-later
// pod.env: facts about the pod, written by the slurmd image's entrypoint. No Slurm; slurmstepd's thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/** Written by the image's entrypoint. */
inline constexpr const char* kPodEnvFile = "/run/slurm-k8s/pod.env";

/** The text of the file; empty when there is none, on a bare-metal node. Errors as of read_file(). */
Result<std::string> read_pod_env(const std::string& path);

/**
 * The SLURM_K8S_* variables of `NAME=value` lines, in order. Skips empty lines, lines that start with
 * '#', and other variables: this file must not set a job's PATH. Error (invalid): a line without '=', with its number.
 */
Result<EnvChanges> parse_pod_env(std::string_view text);

/**
 * Removes such variables among `names`: a job that was submitted from another job has that job's. Keeps
 * SLURM_K8S_OMP_NUM_THREADS, which steps of one job share.
 */
EnvChanges without_other_pod(const std::vector<std::string_view>& names);

}  // namespace slurmk8s
