// SPDX-License-Identifier: GPL-2.0-or-later
// YAML in, Json out. yaml.cc is the only file that knows libyaml. Pure; any thread.
#pragma once

#include <string_view>

#include "json/json.hpp"

namespace slurmk8s {

/**
 * One YAML 1.2 document with the core schema (so `no`, `on` and 012 stay strings), as kubeconfig files need it.
 * Errors (invalid) carry line and column: syntax, anchors, aliases, tags, a second document, a duplicate key, more
 * than 64 levels.
 */
Result<Json> parse_yaml(std::string_view text);

}  // namespace slurmk8s
