// SPDX-License-Identifier: GPL-2.0-or-later
// Lists of words with commas between them, as Slurm writes features, partitions and plugins. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slurmk8s {

using Words = std::vector<std::string>;

/** The words of a list, empty ones left out. */
Words words_of(std::string_view list);
/** The list again. */
std::string join_words(const Words& words);
bool has_word(const Words& words, std::string_view word);
/** The same of a list that isn't taken apart. */
bool has_word(std::string_view list, std::string_view word);
/** At the end, unless it is there. */
void add_word(Words& words, std::string_view word);

}  // namespace slurmk8s
