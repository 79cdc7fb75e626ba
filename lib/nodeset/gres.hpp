// SPDX-License-Identifier: GPL-2.0-or-later
// Checks of Gres in a node's definition. Pure; any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace slurmk8s {

/**
 * Checks the value of Gres= before slurmctld reads it. Error (invalid) names the entry.
 *
 * slurmctld (22.05, 24.11 and 26.05) aborts when it creates a node with typed and untyped entries of one name, and with
 * shards or MPS but no GPU. It adds the counts of one name in 64 bits, which a large count overflows. Entries that
 * slurmctld would misread are refused too: an invalid count, an empty word.
 *
 * Does not know gres.conf.
 */
Status check_gres(std::string_view value);

/** The names in a valid value: "gpu:a:1,foo" has gpu and foo. */
std::set<std::string> gres_names(std::string_view value);

}  // namespace slurmk8s
