// SPDX-License-Identifier: GPL-2.0-or-later
// Names of actions.
#include "sidecar/node_action.hpp"

namespace slurmk8s {

const char* to_string(NodeAction::Kind kind) {
  switch (kind) {
    case NodeAction::Kind::recover: return "recover";
    case NodeAction::Kind::undrain: return "undrain";
    case NodeAction::Kind::clear_reason: return "clear_reason";
    case NodeAction::Kind::resume: return "resume";
    case NodeAction::Kind::remove: return "delete";
    case NodeAction::Kind::create: return "create";
    case NodeAction::Kind::features: return "features";
    case NodeAction::Kind::topology: return "topology";
    case NodeAction::Kind::weigh: return "weigh";
    case NodeAction::Kind::exempt: return "exempt";
    case NodeAction::Kind::power_up: return "power_up";
    case NodeAction::Kind::drain: return "drain";
    case NodeAction::Kind::power_down: return "power_down";
    case NodeAction::Kind::recycle: return "recycle";
    case NodeAction::Kind::abandon: return "abandon";
    case NodeAction::Kind::subject: return "subject";
  }
  return "unknown";
}

}  // namespace slurmk8s
