// SPDX-License-Identifier: GPL-2.0-or-later
// Maps Slurm's GPU numbers to ids.
#include "spank/gpu_ids.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/strings.hpp"

namespace slurmk8s {
namespace {

constexpr const char* kCuda = "CUDA_VISIBLE_DEVICES";
/** What starters of containers read (Pyxis, enroot). slurmd does not pass its own on. */
constexpr const char* kNvidia = "NVIDIA_VISIBLE_DEVICES";
constexpr std::string_view kNone = "NoDevFiles";  // CUDA_VISIBLE_DEVICES of tasks without GPUs, of former releases

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/** "GPU-5f3c…", "MIG-…": the id of one device. */
bool is_device(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == ':' || c == '.';
  });
}

/** Not a device list: everything, nothing, or a path where mounts choose the devices. */
bool is_word(std::string_view ids) {
  return ids.empty() || ids == "all" || ids == "none" || ids == "void" || ids.starts_with('/');
}

/** "4", "0:1": a number among all GPUs of the Kubernetes node. Programs in a container count those of the container. */
bool is_of_kube_node(std::string_view id) {
  return !id.empty() && std::isdigit(static_cast<unsigned char>(id[0])) != 0;
}

}  // namespace

Result<EnvChanges> gpu_changes(std::string_view pod_ids, const std::optional<std::string>& cuda_visible_devices) {
  if (is_word(pod_ids)) return EnvChanges{};
  const auto ids = split(pod_ids, ',');
  if (std::any_of(ids.begin(), ids.end(), is_of_kube_node)) return EnvChanges{};
  const std::string_view slurm = cuda_visible_devices ? *cuda_visible_devices : std::string_view();
  if (slurm.empty() || slurm == kNone) return EnvChanges{{kNvidia, "void"}};
  const auto numbers = split(slurm, ',');
  if (!std::all_of(numbers.begin(), numbers.end(), is_number)) return EnvChanges{};
  std::string visible;
  for (const std::string_view number : numbers) {
    const auto index = parse_int(number);
    if (!index || static_cast<std::size_t>(*index) >= ids.size()) {
      return Error(Errc::invalid,
                   format("%s=%s: the pod has %zu GPUs", kCuda, cuda_visible_devices->c_str(), ids.size()));
    }
    const std::string_view id = ids[static_cast<std::size_t>(*index)];
    if (!is_device(id)) return Error(Errc::invalid, "SLURM_K8S_GPUS: not a device list");
    if (!visible.empty()) visible += ',';
    visible += id;
  }
  return EnvChanges{{kCuda, visible}, {kNvidia, visible}};
}

bool has_gpus_of_bridge(std::string_view bridge_devices, std::string_view gpus_on_node) {
  return !bridge_devices.empty() && !gpus_on_node.empty() && gpus_on_node != "0";
}

}  // namespace slurmk8s
