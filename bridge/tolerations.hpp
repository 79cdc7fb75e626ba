// SPDX-License-Identifier: GPL-2.0-or-later
// Tolerations that the administrator gives all pods of the bridge. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "nodeset/taint.hpp"

namespace slurmk8s {

/**
 * `tolerations` of the file of --users, which is YAML; none without the key. Error (invalid) names the field:
 * "tolerations[0].effect: Unsupported value: …".
 */
Result<std::vector<Toleration>> parse_bridge_tolerations(std::string_view yaml);

}  // namespace slurmk8s
