// SPDX-License-Identifier: GPL-2.0-or-later
// NodeServiceState: a node record's state as its pod tells it, to people and to tools that select pods. Pure; any
// thread.
#pragma once

#include <string>

#include "slurm/records.hpp"

namespace slurmk8s {

struct NodeServiceState {
  std::string label;        ///< Slurm's word for the state, as a label's value: "idle", "powering-up"
  std::string reason;       ///< the same, as a condition's reason: "Idle", "PoweringUp"
  bool in_service = false;  ///< it has jobs or takes them
  std::string message;      ///< Slurm's Reason, when it isn't in service
  bool operator==(const NodeServiceState&) const = default;
};

NodeServiceState describe_service_state(const SlurmNode& node);

}  // namespace slurmk8s
