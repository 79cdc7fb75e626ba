// SPDX-License-Identifier: GPL-2.0-or-later
// YAML out: what `slurm-k8s-sidecar convert` prints. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "json/json.hpp"

namespace slurmk8s {

/**
 * `value` as a YAML document for people to edit, without "---": blocks, members in their order, texts quoted where a
 * reader of YAML 1.1 or 1.2 would take them for something else. parse_yaml() reads it back.
 * Error (invalid): a text that is no UTF-8.
 */
Result<std::string> dump_yaml(const Json& value);

}  // namespace slurmk8s
