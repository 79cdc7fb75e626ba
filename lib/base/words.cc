// SPDX-License-Identifier: GPL-2.0-or-later
// Comma-separated lists of words.
#include "base/words.hpp"

#include <algorithm>

#include "base/strings.hpp"

namespace slurmk8s {

Words words_of(std::string_view list) {
  Words words;
  for (const std::string_view word : split(list, ',')) {
    if (!word.empty()) words.emplace_back(word);
  }
  return words;
}

std::string join_words(const Words& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  return list;
}

bool has_word(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_word(std::string_view list, std::string_view word) {
  if (word.empty()) return false;
  for (std::size_t at = list.find(word); at != std::string_view::npos; at = list.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || list[at - 1] == ',') && (end == list.size() || list[end] == ',')) return true;
  }
  return false;
}

void add_word(Words& words, std::string_view word) {
  if (!has_word(words, word)) words.emplace_back(word);
}

}  // namespace slurmk8s
