// SPDX-License-Identifier: GPL-2.0-or-later
// DeviceClasses: which devices of resource claims (DRA) Slurm counts, and as which GPUs. Pure; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/json.hpp"
#include "nodeset/bridge_devices.hpp"

namespace slurmk8s {

/** DeviceClasses, "gpu.nvidia.com", to the extended resource that their devices count as, "nvidia.com/gpu". */
using DeviceClasses = std::map<std::string, std::string>;

/**
 * The mapping under "deviceClasses" of the document with the rules of users. Error (invalid) names the field:
 * "deviceClasses.gpu.nvidia.com: Unsupported value".
 */
Result<DeviceClasses> parse_device_classes(std::string_view yaml);

/**
 * How many devices of `classes` a claim asks for: `spec` is a ResourceClaim's. Devices of other classes count nothing.
 * Error (invalid) names the request whose number isn't fixed.
 */
Result<BridgeDevices> count_devices(const Json& spec, const DeviceClasses& classes);

}  // namespace slurmk8s
