// SPDX-License-Identifier: GPL-2.0-or-later
// Comma-separated lists of words, as Slurm writes features, partitions and plugins. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slurmk8s {

using Words = std::vector<std::string>;

/** The words of a list, without empty ones. */
Words words_of(std::string_view list);
/** The comma-separated list. */
std::string join_words(const Words& words);
bool has_word(const Words& words, std::string_view word);
/** The same of a comma-separated list. */
bool has_word(std::string_view list, std::string_view word);
/** Appends `word` if it is missing. */
void add_word(Words& words, std::string_view word);

}  // namespace slurmk8s
