// SPDX-License-Identifier: GPL-2.0-or-later
// pod.env: what the slurmd image's entrypoint wrote down about its pod. No Slurm; slurmstepd's thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

using Environment = std::vector<std::pair<std::string, std::string>>;

/**
 * The SLURM_K8S_* variables of `NAME=value` lines, in order. Lines that are empty or start with '#' are skipped, and
 * so is every other variable: this file must not be a way to set a job's PATH. Error (invalid): a line without '=',
 * with its number.
 */
Result<Environment> parse_pod_env(std::string_view text);

}  // namespace slurmk8s
