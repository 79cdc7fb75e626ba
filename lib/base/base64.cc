// SPDX-License-Identifier: GPL-2.0-or-later
// Base64, six bits at a time.
#include "base/base64.hpp"

#include <cstddef>

namespace slurmk8s {
namespace {

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string decoded;
  unsigned bits = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    if (c == '=') {
      ++padding;
      continue;
    }
    const int value = base64_value(c);
    if (value < 0 || padding > 0) return std::nullopt;
    bits = (bits << 6) | static_cast<unsigned>(value);
    if (++digits % 4 != 1) decoded += static_cast<char>((bits >> (6 - 2 * ((digits - 1) % 4))) & 0xff);
  }
  if (padding > 2 || (digits + padding) % 4 != 0) return std::nullopt;
  return decoded;
}

}  // namespace slurmk8s
