// SPDX-License-Identifier: GPL-2.0-or-later
// The spec of a ResourceClaim, whatever it says: what Slurm counts for it.
#include "bridge/device_classes.hpp"
#include "fuzz/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slurmk8s;
  const auto spec = Json::parse(as_text(data, size));
  if (!spec.ok()) return 0;
  const auto devices = count_devices(*spec, {{"gpu.nvidia.com", "nvidia.com/gpu"}});
  if (!devices.ok()) {
    require(devices.error().code() == Errc::invalid, "an error of another code");
    return 0;
  }
  for (const auto& [name, milli] : *devices) {
    require(name == "nvidia.com/gpu", "devices of another class");
    require(milli >= 0 && milli % 1000 == 0, "a part of a device");
  }
  return 0;
}
