// SPDX-License-Identifier: GPL-2.0-or-later
// spec.bridgeDevices: GPUs of a Kubernetes node for pods of the bridge. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** By extended resource, in thousandths. A node's feature has the resource's name: the bridge asks for it. */
using BridgeDevices = std::map<std::string, std::int64_t>;

/**
 * The field's value, without zeros; may be null. Error (invalid) names the field: not GPUs, no number, or several
 * kinds. That they are integers, and not too many, device_gres() checks.
 */
Result<BridgeDevices> decode_bridge_devices(const Json& value);

/**
 * Whether Slurm could give one kind for another: whole GPUs of two resources, or beside MIG devices. A request for
 * whole GPUs has no type.
 */
bool has_several_kinds(const BridgeDevices& devices);

}  // namespace slurmk8s
