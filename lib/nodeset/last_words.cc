// SPDX-License-Identifier: GPL-2.0-or-later
// Reduces a log to one line.
#include "nodeset/last_words.hpp"

#include <algorithm>
#include <array>

namespace slurmk8s {
namespace {

/** The last line with `mark`, from the mark on. */
std::string_view last_line_with(std::string_view log, std::string_view mark) {
  const std::size_t begin = log.rfind(mark);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = log.substr(begin);
  return rest.substr(0, rest.find('\n'));
}

}  // namespace

std::string last_words(std::string_view log) {
  constexpr std::array<std::string_view, 2> kMarks{"fatal: ", "error: "};
  std::string_view line;
  for (const std::string_view mark : kMarks) {
    if (line.empty()) line = last_line_with(log, mark);
  }
  std::string words(line.substr(0, kMaxLastWords));
  std::replace_if(
      words.begin(), words.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  words.erase(words.find_last_not_of(' ') + 1);
  return words;
}

}  // namespace slurmk8s
