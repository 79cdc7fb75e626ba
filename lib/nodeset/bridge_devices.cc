// SPDX-License-Identifier: GPL-2.0-or-later
// spec.bridgeDevices.
#include "nodeset/bridge_devices.hpp"

#include <algorithm>

#include "nodeset/device_gres.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/quantity.hpp"

namespace slurmk8s {

bool has_several_kinds(const BridgeDevices& devices) {
  const auto is_whole = [](const auto& device) { return !is_mig_resource(device.first); };
  const auto whole = std::count_if(devices.begin(), devices.end(), is_whole);
  return whole != 0 && devices.size() > 1;
}

Result<BridgeDevices> decode_bridge_devices(const Json& value) {
  const std::string field = "spec.bridgeDevices";
  BridgeDevices devices;
  if (value.is_null()) return devices;
  if (!value.is_object()) return invalid_field(field, value.type_name(), "must be an object");
  Status status;
  value.each([&](std::string_view name, const Json& count) {
    if (!status) return;
    const auto milli = decode_quantity(count, field + "." + std::string(name));
    if (!is_gpu_resource(name)) {
      status = invalid_field(field, name,
                             "must be nvidia.com/gpu, nvidia.com/mig-PROFILE, amd.com/gpu, gpu.intel.com/i915 or "
                             "gpu.intel.com/xe");
    } else if (!milli) {
      status = milli.error();
    } else if (*milli != 0) {
      devices[std::string(name)] = *milli;
    }
  });
  SLURMK8S_CHECK(status);
  if (has_several_kinds(devices)) {
    return forbidden_field(field, "may not have whole GPUs of two resources, or beside MIG devices");
  }
  return devices;
}

}  // namespace slurmk8s
