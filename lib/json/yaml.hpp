// SPDX-License-Identifier: GPL-2.0-or-later
// YAML in, Json out, and back. yaml.cc is the only file that knows libyaml. Pure; any thread.
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

/**
 * `value` as a YAML document for people to edit, without "---": blocks, members in their order, texts quoted where a
 * reader of YAML 1.1 or 1.2 would take them for something else. parse_yaml() reads it back.
 * Error (invalid): a text that is no UTF-8.
 */
Result<std::string> dump_yaml(const Json& value);

}  // namespace slurmk8s
