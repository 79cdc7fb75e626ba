// SPDX-License-Identifier: GPL-2.0-or-later
// Gres of a node's definition, checked. Pure; any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Checks the value of Gres= before slurmctld sees it. Error (invalid): which entry is wrong, and why.
 *
 * slurmctld (22.05, 24.11 and 26.05) ends itself when it makes a node of which some entries of a name have a type and
 * others have none, and when shards or MPS are given to a node without GPUs. It also adds the counts of several types
 * of one entry in 64 bits, where a large one overflows. Entries that slurmctld would take for something else are
 * refused too: a count that is none, an empty word.
 *
 * What gres.conf adds isn't known here.
 */
Status check_gres(std::string_view value);

/** The names in a value that check_gres() takes: "gpu:a:1,foo" has gpu and foo. */
std::set<std::string> gres_names(std::string_view value);

}  // namespace slurmk8s
