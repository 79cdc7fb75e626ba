// SPDX-License-Identifier: GPL-2.0-or-later
// CUDA_VISIBLE_DEVICES by the ids that the device plugin gave the pod. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/**
 * Slurm counts a node's GPUs from 0; a pod has some of its machine's, known by id (`pod_ids`, which is the container's
 * NVIDIA_VISIBLE_DEVICES: "GPU-…,GPU-…"). The n-th id stands for Slurm's n: different jobs get different GPUs. Nothing
 * changes where Slurm gave the job none (CUDA then shows what the pod has), gave ids itself, or where the pod's are
 * "all", "none", "void" or given by mounts. Error (invalid): a number beyond the pod's ids, or ids that are none.
 */
Result<EnvChanges> gpu_changes(std::string_view pod_ids, const std::optional<std::string>& cuda_visible_devices);

}  // namespace slurmk8s
