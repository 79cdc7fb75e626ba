// SPDX-License-Identifier: GPL-2.0-or-later
// Lexer: the rules of JSON that json-c does not keep, whatever its flags, so that all its versions accept the same
// texts: what is sent to the API server must mean what was read. Pure; any thread.
//
// In its strict mode json-c accepts NaN, Infinity, "1.", "-01", and writes them again; 0.16 (Debian 12) also control
// characters and overlong UTF-8; 0.18 (Debian 13) refuses any text that is not ASCII. This pass is 3 % of the time to
// parse a list of pods (tests/bench/json_parse.cc); json-c's own check of UTF-8 takes no less.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Looks at each string, number and literal of a JSON text, and for commas at the end of objects and arrays; the rest of
 * the structure is the parser's. Error (invalid): NaN, Infinity, a number with leading zeros or without digits where
 * they must be, an integer beyond 64 bits, a control character in a string, invalid UTF-8, a trailing comma.
 */
Status check_json_words(std::string_view text);

}  // namespace slurmk8s
