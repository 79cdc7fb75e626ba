// SPDX-License-Identifier: GPL-2.0-or-later
// Devices of resource claims. The fields are those of resource.k8s.io/v1.
#include "bridge/device_classes.hpp"

#include <algorithm>
#include <vector>

#include "json/yaml.hpp"
#include "nodeset/device_gres.hpp"
#include "nodeset/field_error.hpp"

namespace slurmk8s {
namespace {

Error not_countable(const Json& request, const char* what) {
  return Error(Errc::invalid, "request " + std::string(request["name"].text()) + ": " + what + " cannot be counted");
}

Status count_request(const Json& request, const DeviceClasses& classes, BridgeDevices& devices) {
  const auto find_class = [&](const Json& one) { return classes.find(std::string(one["deviceClassName"].text())); };
  bool is_one_of_several = false;
  request["firstAvailable"].each(
      [&](const Json& one) { is_one_of_several = is_one_of_several || find_class(one) != classes.end(); });
  if (is_one_of_several) return not_countable(request, "firstAvailable");
  const Json exactly = request["exactly"];
  const auto found = find_class(exactly);
  if (found == classes.end() || exactly["adminAccess"].boolean_or(false)) return {};
  if (exactly["allocationMode"].text("ExactCount") != "ExactCount") return not_countable(request, "allocationMode All");
  // device_gres() refuses more than it can have.
  devices[found->second] += std::clamp<std::int64_t>(exactly["count"].integer_or(1), 0, kMaxGpus + 1) * 1000;
  return {};
}

}  // namespace

Result<DeviceClasses> parse_device_classes(std::string_view yaml) {
  const std::vector<Json> documents = SLURMK8S_TRY(parse_yaml_documents(yaml));
  DeviceClasses classes;
  if (documents.empty()) return classes;
  Status valid;
  documents.front()["deviceClasses"].each([&](std::string_view name, const Json& resource) {
    if (valid.ok() && !is_gpu_resource(resource.text())) {
      valid = invalid_field("deviceClasses." + std::string(name), resource, "must be GPUs, such as nvidia.com/gpu");
    }
    classes.emplace(name, resource.text());
  });
  SLURMK8S_CHECK(std::move(valid));
  return classes;
}

Result<BridgeDevices> count_devices(const Json& spec, const DeviceClasses& classes) {
  BridgeDevices devices;
  Status valid;
  spec.at({"devices", "requests"}).each([&](const Json& request) {
    if (valid.ok()) valid = count_request(request, classes, devices);
  });
  SLURMK8S_CHECK(std::move(valid));
  return devices;
}

}  // namespace slurmk8s
