// SPDX-License-Identifier: GPL-2.0-or-later
// Allocatable: what pods can have of a Kubernetes node, and how large its external node of Slurm is therefore. Pure;
// values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "json/json.hpp"
#include "nodeset/nodeset.hpp"

namespace slurmk8s {

/** CPUs and memory of a Kubernetes node, or of pods. */
struct Resources {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  bool operator==(const Resources&) const = default;
};

/** Resources of Kubernetes nodes by name. */
using ResourcesByKubeNode = std::map<std::string, Resources, std::less<>>;

/** From a Kubernetes node's object; 0 of what its kubelet doesn't say. */
Resources decode_allocatable(const Json& object);

/** What pods that Slurm doesn't count leave of it; 0 at least. */
Resources subtract(const Resources& allocatable, const Resources& requested);

/**
 * The size of an external node: whole CPUs of what is left of its Kubernetes node, in multiples that extraConf asks
 * for, and its memory less memoryReserve; at most the NodeSet's. Without a value: less than 1 CPU or 1 MiB is left.
 */
std::optional<NodeSize> fit_size(const NodeSet& nodeset, const Resources& left);

}  // namespace slurmk8s
