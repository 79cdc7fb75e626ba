// SPDX-License-Identifier: GPL-2.0-or-later
// spec.updateStrategy of a NodeSet: whether nodes that run a former template are recycled, and how many at a time. The
// names are those of Kubernetes' DaemonSet. Pure; any thread.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

struct UpdateStrategy {
  enum class Type {
    rolling,    ///< RollingUpdate: at once, a part of the nodes at a time
    on_delete,  ///< OnDelete: not at all; a node gets the template with its next pod
    scheduled,  ///< ScheduledUpdate: as rolling, but only nodes in a maintenance reservation
  };
  Type type = Type::rolling;
  std::int64_t max_unavailable = 1;  ///< nodes out of service for it at a time
  std::int64_t percentage = 0;       ///< not 0: it counts instead, as a part of the nodes that there are to be

  /** Of a NodeSet that is to have so many nodes: a percentage is rounded up. */
  std::int64_t most_unavailable(std::int64_t nodes) const;
};

/** Reads spec.updateStrategy. Error (invalid) names the field. */
Result<UpdateStrategy> decode_update_strategy(const Json& spec);

}  // namespace slurmk8s
