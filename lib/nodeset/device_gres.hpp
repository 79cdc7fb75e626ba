// SPDX-License-Identifier: GPL-2.0-or-later
// GPUs in the limits of a container, as Gres of its node. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

/** Maximum number of GPUs of a node. */
inline constexpr std::int64_t kMaxGpus = 256;

/** What a NodeSet says of its GPUs. */
struct DeviceGresOptions {
  std::string type = {};      ///< spec.gresType; empty: GPUs have no type
  std::string resource = {};  ///< spec.gpuResource: a further extended resource that is GPUs; may be empty
  std::int64_t claimed = 0;   ///< spec.claimedGpus: whole GPUs that are not in the limits
};

/**
 * "gpu:8", "gpu:a100:8" or "gpu:1g.10gb:2,gpu:3g.40gb:1" for a container's limits, in thousandths; empty without GPUs.
 * GPUs are nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915, gpu.intel.com/xe, and the NodeSet's own resource. A MIG
 * device (nvidia.com/mig-1g.10gb) has its profile as type. Claimed GPUs are counted with them. Error (invalid) says
 * what is wrong with the limits.
 */
Result<std::string> device_gres(const std::map<std::string, std::int64_t>& limits, const DeviceGresOptions& options);

/** "nvidia.com/mig-1g.10gb": a MIG device. */
bool is_mig_resource(std::string_view name);

/** Whether an extended resource is GPUs without a NodeSet that says so: those above. */
bool is_gpu_resource(std::string_view name);

/** A valid spec.gresType: a letter, then at most 62 letters, digits, '_', '-' and '.'. */
bool is_gres_type(std::string_view text);

/** A valid spec.gpuResource, as far as we tell: "example.com/gpu". */
bool is_resource_name(std::string_view text);

/** The words of `extra_conf` with `gres` in its Gres, which is added if there is none. */
std::string with_gres(std::string_view extra_conf, std::string_view gres);

}  // namespace slurmk8s
