// SPDX-License-Identifier: GPL-2.0-or-later
// spank/gpu_ids: tasks have the ids that the pod was given.
#include "spank/gpu_ids.hpp"

#include <optional>
#include <string>

#include "support/cmocka.hpp"
#include "support/env_changes.hpp"

using namespace slurmk8s;

namespace {

void gpus(void**) {
  const struct {
    const char* pod;
    const char* slurm;  // nullptr: CUDA_VISIBLE_DEVICES isn't set
    const char* expected;
  } cases[] = {
      {"GPU-a,GPU-b", "1", "CUDA_VISIBLE_DEVICES=GPU-b NVIDIA_VISIBLE_DEVICES=GPU-b"},
      {"GPU-a,GPU-b,MIG-c/1", "1,0", "CUDA_VISIBLE_DEVICES=GPU-b,GPU-a NVIDIA_VISIBLE_DEVICES=GPU-b,GPU-a"},
      {"GPU-a", nullptr, "NVIDIA_VISIBLE_DEVICES=void"},       // Slurm: none
      {"GPU-a", "", "NVIDIA_VISIBLE_DEVICES=void"},            // Slurm: none
      {"GPU-a", "NoDevFiles", "NVIDIA_VISIBLE_DEVICES=void"},  // Slurm: none
      {"", nullptr, ""},                                       // nor has the pod
      {"all", nullptr, ""},                                    // ids are not known
      {"0,1", nullptr, ""},
      {"GPU-a", "GPU-a", ""},  // ids already
      {"4,7", "1", ""},        // of the machine: programs count the container's, as Slurm does
      {"0:0,0:1", "1", ""},
      {"", "0", ""},
      {"all", "0", ""},
      {"void", "0", ""},
      {"/var/run/nvidia-container-devices", "0", ""},
      {"GPU-a", "1", "error: CUDA_VISIBLE_DEVICES=1: the pod has 1 GPUs"},
      {"GPU-a", "99999999999999999999", "error: CUDA_VISIBLE_DEVICES=99999999999999999999: the pod has 1 GPUs"},
      {"GPU a", "0", "error: SLURM_K8S_GPUS: not a device list"},
      {"GPU-a,", "1", "error: SLURM_K8S_GPUS: not a device list"},
  };
  for (const auto& row : cases) {
    const auto changes = gpu_changes(row.pod, row.slurm ? std::optional<std::string>(row.slurm) : std::nullopt);
    assert_text(changes ? shown(*changes) : "error: " + changes.error().message(), row.expected);
  }
}

void gpus_of_the_bridge(void**) {
  const struct {
    const char* bridge_devices;
    const char* gpus_on_node;
    bool is_refused;
  } cases[] = {{"", "", false}, {"", "2", false}, {"gpu:4", "", false}, {"gpu:4", "0", false}, {"gpu:4", "1", true}};
  for (const auto& c : cases) assert_int_equal(has_gpus_of_bridge(c.bridge_devices, c.gpus_on_node), c.is_refused);
}

}  // namespace

int main() {
  const CMUnitTest tests[] = {
      SLURMK8S_TEST(gpus),
      SLURMK8S_TEST(gpus_of_the_bridge),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
