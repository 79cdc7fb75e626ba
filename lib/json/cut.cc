// SPDX-License-Identifier: GPL-2.0-or-later
// Cut: one pass over the text, looking at quotes and brackets alone.
#include "json/cut.hpp"

#include <algorithm>

namespace slurmk8s {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

/** Behind the string that opens at `at`; the text's end when it doesn't close. */
std::size_t behind_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    at = text.find_first_of("\"\\", at);
    if (at == std::string_view::npos) return text.size();
    if (text[at] == '"') return at + 1;
    ++at;  // what is escaped
  }
  return text.size();
}

std::size_t behind_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

/** Of the value at `at`: the comma or closing bracket that follows it. */
std::size_t end_of_value(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size();) {
    switch (text[at]) {
      case '"': at = behind_string(text, at); continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (depth-- == 0) return at;
        break;
      case ',':
        if (depth == 0) return at;
        break;
      default: break;
    }
    ++at;
  }
  return text.size();
}

/** Nothing follows the member that was cut, so no comma may precede it. */
void take_comma_back(std::string& out) {
  const std::size_t last = out.find_last_not_of(kSpace);
  if (last != std::string::npos && out[last] == ',') out.resize(last);
}

}  // namespace

std::string cut_members(std::string_view text, std::span<const std::string_view> names) {
  std::string out;
  out.reserve(text.size());
  std::size_t copied = 0;
  for (std::size_t quote = text.find('"'); quote < text.size(); quote = text.find('"', quote)) {
    const std::size_t behind = behind_string(text, quote);
    const std::string_view word = text.substr(quote, behind - quote);
    const bool named = word.size() >= 2 && std::ranges::count(names, word.substr(1, word.size() - 2)) > 0;
    const std::size_t colon = named ? behind_space(text, behind) : text.size();
    if (colon == text.size() || text[colon] != ':') {
      quote = behind;
      continue;
    }
    out.append(text.substr(copied, quote - copied));
    copied = end_of_value(text, colon + 1);
    if (copied < text.size() && text[copied] == ',') {
      ++copied;
    } else {
      take_comma_back(out);
    }
    quote = copied;
  }
  out.append(text.substr(std::min(copied, text.size())));
  return out;
}

}  // namespace slurmk8s
