// SPDX-License-Identifier: GPL-2.0-or-later
// Hostlists: Slurm's "gpu-[01-16,20],login" in both directions, without Slurm. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** Most names that one hostlist may expand to: Slurm's own MAX_NODE limit is 65,536 nodes. */
inline constexpr std::size_t kMaxHosts = 65536;

/**
 * All names of a hostlist in its order, duplicates kept; an empty text has none. Several bracket groups in one name
 * ("r[1-2]n[1-3]") and zero padding are understood. Errors (invalid) quote the text: unbalanced brackets, an empty or
 * falling range, a name with characters that no host name has, more than kMaxHosts names.
 */
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

/**
 * The shortest hostlist we make: names that differ only in the number at their end (of equal padding) are put in
 * brackets with ranges; groups appear in order of their first name. Input need not be sorted; duplicates are dropped.
 * Nothing follows a bracket, since Slurm reads no such hostlist.
 */
std::string compress_hostlist(const std::vector<std::string>& names);

/** A hostlist for messages: at most about 200 characters, however scattered the nodes are. */
std::string shorten(std::string hostlist);

/** "compute-[8-9] (2)": nodes and how many they are, for messages. */
std::string describe_hostlist(const std::vector<std::string>& names);

}  // namespace slurmk8s
