// SPDX-License-Identifier: GPL-2.0-or-later
// KnownNodeSet: what the API has under a name. Values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "core/nodeset.hpp"

namespace slurmk8s {

/** A NodeSet, or why its spec can't be used. */
struct KnownNodeSet {
  std::int64_t generation = 0;
  Result<NodeSet> spec;
  std::string stopped_template = {};  ///< the hash whose roll-out its status called stopped when it was first seen
};

/** All NodeSets of the namespace by name. */
using NodeSets = std::map<std::string, KnownNodeSet>;

}  // namespace slurmk8s
