// SPDX-License-Identifier: GPL-2.0-or-later
// RollOut: how far a NodeSet's template has come, and what the next plan must know of that. A value.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

namespace slurmk8s {

struct RollOut {
  std::string template_hash;  ///< revision_of() the NodeSet
  std::int64_t updated = 0;   ///< nodes whose pod is of this template, or that have none and will get it
  bool done = false;          ///< condition RolledOut, with its reason (CamelCase) and message
  std::string reason;
  std::string message;

  /** A node could not come up with this template, and none has since: no further node is given it. */
  bool stopped = false;
  std::set<std::string, std::less<>> up;      ///< nodes that are up with this template
  std::set<std::string, std::less<>> failed;  ///< nodes that could not come up, and don't run a former one
};

/** RollOut::reason of one that is stopped: by it a sidecar that was restarted knows. */
inline constexpr const char* kRollOutStopped = "Stopped";

}  // namespace slurmk8s
