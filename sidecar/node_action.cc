// SPDX-License-Identifier: GPL-2.0-or-later
// Names of actions.
#include "sidecar/node_action.hpp"

namespace slurmk8s {

const char* to_string(NodeAction::Kind kind) {
  switch (kind) {
    case NodeAction::Kind::drop_lost: return "drop_lost";
    case NodeAction::Kind::undrain: return "undrain";
    case NodeAction::Kind::clear_reason: return "clear_reason";
    case NodeAction::Kind::resume: return "resume";
    case NodeAction::Kind::remove: return "delete";
    case NodeAction::Kind::create: return "create";
    case NodeAction::Kind::features: return "features";
    case NodeAction::Kind::topology: return "topology";
    case NodeAction::Kind::set_weight: return "set_weight";
    case NodeAction::Kind::exempt_from_suspend: return "exempt_from_suspend";
    case NodeAction::Kind::power_up: return "power_up";
    case NodeAction::Kind::drain: return "drain";
    case NodeAction::Kind::power_down: return "power_down";
    case NodeAction::Kind::recycle: return "recycle";
    case NodeAction::Kind::force_power_down: return "force_power_down";
    case NodeAction::Kind::unexempt: return "unexempt";
  }
  return "unknown";
}

}  // namespace slurmk8s
