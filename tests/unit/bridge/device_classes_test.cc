// SPDX-License-Identifier: GPL-2.0-or-later
// bridge/device_classes: GPUs that resource claims ask for.
#include "bridge/device_classes.hpp"

#include <string>

#include "base/strings.hpp"
#include "support/cmocka.hpp"

namespace slurmk8s {
namespace {

const DeviceClasses kClasses = {{"gpu.nvidia.com", "nvidia.com/gpu"}, {"mig", "nvidia.com/mig-1g.10gb"}};

std::string describe(const Result<BridgeDevices>& devices) {
  if (!devices) return devices.error().message();
  std::string text;
  for (const auto& [name, milli] : *devices) text += format("%s=%lld ", name.c_str(), static_cast<long long>(milli));
  return text;
}

void counts(void**) {
  const struct {
    const char* requests;
    const char* devices;  // or the error
  } cases[] = {
      {"[]", ""},
      {R"([{"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com"}}])", "nvidia.com/gpu=1000 "},
      {R"([{"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 2}},
           {"name": "b", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 3}},
           {"name": "c", "exactly": {"deviceClassName": "mig"}}])",
       "nvidia.com/gpu=5000 nvidia.com/mig-1g.10gb=1000 "},
      // Of another class: Slurm has no count of them.
      {R"([{"name": "a", "exactly": {"deviceClassName": "nic.example.com", "allocationMode": "All"}}])", ""},
      {R"([{"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com", "adminAccess": true}}])", ""},
      {R"([{"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}}])",
       "request a: allocationMode All cannot be counted"},
      {R"([{"name": "a", "firstAvailable": [{"deviceClassName": "other"}, {"deviceClassName": "gpu.nvidia.com"}]}])",
       "request a: firstAvailable cannot be counted"},
      {R"([{"name": "a", "firstAvailable": [{"deviceClassName": "other"}]}])", ""},
      // More than a node can have, and no overflow.
      {R"([{"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 9223372036854775807}}])",
       "nvidia.com/gpu=257000 "},
  };
  for (const auto& c : cases) {
    const auto spec = Json::parse(std::string(R"({"devices": {"requests": )") + c.requests + "}}");
    assert_text(describe(count_devices(*spec, kClasses)), c.devices);
  }
}

void classes_of_the_rules(void**) {
  assert_true(parse_device_classes("")->empty());
  assert_true(parse_device_classes("users: []")->empty());
  assert_true(*parse_device_classes("deviceClasses: {gpu.nvidia.com: nvidia.com/gpu, mig: nvidia.com/mig-1g.10gb}") ==
              kClasses);
  const auto wrong = parse_device_classes("deviceClasses: {gpu.nvidia.com: nvidia.com/gpu, nic: rdma/hca}");
  assert_text(wrong.error().message(),
              "deviceClasses.nic: Invalid value: \"rdma/hca\": must be GPUs, such as nvidia.com/gpu");
}

}  // namespace
}  // namespace slurmk8s

int main() {
  using namespace slurmk8s;
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(counts),
      SLURMK8S_TEST(classes_of_the_rules),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
