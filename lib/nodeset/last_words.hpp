// SPDX-License-Identifier: GPL-2.0-or-later
// The reason why slurmd ended, from its log.
#pragma once

#include <string>
#include <string_view>

namespace slurmk8s {

/** Maximum length of last_words(), in bytes. */
inline constexpr std::size_t kMaxLastWords = 160;

/**
 * The reason in the last lines of slurmd's log: the last line with "fatal:", else the last one with "error:", from that
 * word on. Control characters become spaces. Empty when the log has neither. Pure; any thread.
 */
std::string last_words(std::string_view log);

}  // namespace slurmk8s
