// SPDX-License-Identifier: GPL-2.0-or-later
// Allocatable: status.allocatable of a Kubernetes node, which its kubelet gives to pods.
#include "sidecar/allocatable.hpp"

#include <algorithm>

#include "nodeset/pod_request.hpp"

namespace slurmk8s {

Resources decode_allocatable(const Json& object) {
  const Json allocatable = object.at({"status", "allocatable"});
  return {quantity_milli(allocatable, "cpu"), quantity_milli(allocatable, "memory") / 1000};
}

Resources subtract(const Resources& allocatable, const Resources& requested) {
  return {std::max<std::int64_t>(0, allocatable.cpu_milli - requested.cpu_milli),
          std::max<std::int64_t>(0, allocatable.memory_bytes - requested.memory_bytes)};
}

std::optional<NodeSize> fit_size(const NodeSet& nodeset, const Resources& left) {
  constexpr std::int64_t kMebi = 1024 * 1024;
  const std::int64_t whole = std::min<std::int64_t>(nodeset.size.cpus, left.cpu_milli / 1000);
  const std::int64_t cpus = whole - whole % nodeset.cpu_multiple;
  const std::int64_t memory = left.memory_bytes - nodeset.memory_reserve;
  if (cpus < 1 || memory < kMebi) return std::nullopt;
  return NodeSize{static_cast<std::uint32_t>(cpus),
                  std::min(nodeset.size.real_memory_mib, static_cast<std::uint64_t>(memory / kMebi))};
}

}  // namespace slurmk8s
