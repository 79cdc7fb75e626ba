// SPDX-License-Identifier: GPL-2.0-or-later
// Strings: split, trim, numbers, printf. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slurmk8s {

/** Parts between separators, empty ones kept; at least one part. */
std::vector<std::string_view> split(std::string_view text, char separator);
/** Without white space at both ends. */
std::string_view trim(std::string_view text);
/** With A to Z as a to z, whatever the locale. */
std::string to_lower(std::string_view text);
/** One of ASCII's, whatever the locale. */
inline bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/** A decimal number with an optional minus and nothing else; empty when it is invalid or overflows. */
std::optional<std::int64_t> parse_int(std::string_view text);
/** printf into a string. */
std::string format(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace slurmk8s
