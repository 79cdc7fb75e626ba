// SPDX-License-Identifier: GPL-2.0-or-later
// The environment of an administrator's scripts, which run as root. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * PATH, a fixed one; Slurm's SLURM_* and SLURMD_* variables of `host` ("NAME=value": Slurm puts SPANK_ before what
 * users set); the SLURM_K8S_* of `pod_env`, the text of pod.env.
 */
Result<std::vector<std::string>> script_environment(const std::vector<std::string>& host, const std::string& pod_env);

}  // namespace slurmk8s
