// SPDX-License-Identifier: GPL-2.0-or-later
// Lexer: the rules of JSON's words that json-c doesn't insist on, whatever its flags. Pure; any thread.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Looks at each string, number and literal of a JSON text, not at how they stand to each other. Error (invalid): NaN,
 * Infinity, a number with leading zeros or without digits where they must be, a control character in a string,
 * anything that is no UTF-8.
 */
Status check_json_words(std::string_view text);

}  // namespace slurmk8s
