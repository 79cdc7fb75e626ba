// SPDX-License-Identifier: GPL-2.0-or-later
// spec.updateStrategy of a NodeSet: whether and how many nodes of a former template are recycled at a time. Names as
// in Kubernetes' DaemonSet. Pure; any thread.
#pragma once

#include <cstdint>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

struct UpdateStrategy {
  enum class Type {
    rolling,    ///< RollingUpdate: at once, a part of the nodes at a time
    on_delete,  ///< OnDelete: never; a node gets the template with its next pod
    scheduled,  ///< ScheduledUpdate: as rolling, but only nodes in a maintenance reservation
  };
  Type type = Type::rolling;
  std::int64_t max_unavailable = 1;  ///< nodes out of service at a time
  std::int64_t percentage = 0;       ///< not 0: replaces max_unavailable, as a part of the desired nodes

  /** The limit of a NodeSet with `nodes` desired nodes: a percentage is rounded up. */
  std::int64_t unavailable_limit(std::int64_t nodes) const;
};

/** Reads spec.updateStrategy. Error (invalid) names the field. */
Result<UpdateStrategy> decode_update_strategy(const Json& spec);

}  // namespace slurmk8s
