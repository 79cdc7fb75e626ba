// SPDX-License-Identifier: GPL-2.0-or-later
// YAML in, Json out. The way back is convert/yaml_writer.hpp; no other file knows libyaml. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

/**
 * One YAML 1.2 document with the core schema (so `no`, `on` and 012 stay strings), as kubeconfig files need it.
 * Errors (invalid) carry line and column: syntax, anchors, aliases, tags, a second document, a duplicate key, more
 * than 64 levels.
 */
Result<Json> parse_yaml(std::string_view text);

/** The same for any number of documents, as `kubectl` and `helm template` write them; an empty one is null. */
Result<std::vector<Json>> parse_yaml_documents(std::string_view text);

}  // namespace slurmk8s
