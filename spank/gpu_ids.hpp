// SPDX-License-Identifier: GPL-2.0-or-later
// CUDA_VISIBLE_DEVICES and NVIDIA_VISIBLE_DEVICES of tasks, with the device plugin's ids. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "spank/env_change.hpp"

namespace slurmk8s {

/**
 * Slurm counts a node's GPUs from 0; a pod has some GPUs of its Kubernetes node, by id (`pod_ids`, the container's
 * NVIDIA_VISIBLE_DEVICES: "GPU-…,GPU-…"). The n-th id stands for Slurm's n: different jobs get different GPUs. Both
 * variables get the ids of a task. Where Slurm gave it none, it has removed CUDA_VISIBLE_DEVICES, and
 * NVIDIA_VISIBLE_DEVICES becomes "void": a step would have that of its batch script. No change if Slurm gave ids, or if
 * the pod's are "all", "none", "void", given by mounts, or numbers. Error (invalid): a number beyond the pod's ids, or
 * invalid ids.
 */
Result<EnvChanges> gpu_changes(std::string_view pod_ids, const std::optional<std::string>& cuda_visible_devices);

/**
 * Whether Slurm gave a task GPUs of a node whose GPUs pods of the bridge get: the node's pod has none.
 * `bridge_devices`: SLURM_K8S_BRIDGE_DEVICES of the pod. `gpus_on_node`: SLURM_GPUS_ON_NODE, which slurmstepd sets for
 * a task with GPUs and removes from others (gres_common.c:286 of 24.11).
 */
bool has_gpus_of_bridge(std::string_view bridge_devices, std::string_view gpus_on_node);

}  // namespace slurmk8s
