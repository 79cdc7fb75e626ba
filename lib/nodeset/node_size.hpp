// SPDX-License-Identifier: GPL-2.0-or-later
// NodeSize: CPUs and RealMemory of a NodeSet's nodes, from the limits of container slurmd. Pure; values; any thread.
#pragma once

#include <compare>
#include <cstdint>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Maximum CPUs of a node: Slurm counts them in 16 bits. */
inline constexpr std::int64_t kMaxCpus = 65000;

struct NodeSize {
  std::uint32_t cpus = 1;
  std::uint64_t real_memory_mib = 0;
  auto operator<=>(const NodeSize&) const = default;
};

/** Fields of a NodeSet; null: absent. */
struct SizeFields {
  Json cpu_limit;
  Json memory_limit;
  Json memory_reserve;
  bool has_pods = true;  ///< of an external node each limit is a maximum, and may be absent
};

struct DecodedSize {
  /**
   * Floor of the CPU limit, at least 1; the memory limit minus the reserve. Without a limit more than a Kubernetes node
   * has.
   */
  NodeSize size;
  std::int64_t memory_reserve = 0;  ///< bytes
};

/** Error (invalid) names the field: required, or what it must be. */
Result<DecodedSize> decode_size(const SizeFields& fields);

}  // namespace slurmk8s
