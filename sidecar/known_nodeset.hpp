// SPDX-License-Identifier: GPL-2.0-or-later
// KnownNodeSet: what the API has under a name. Values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "nodeset/nodeset.hpp"
#include "sidecar/record_definition.hpp"

namespace slurmk8s {

/** A NodeSet, or why its spec can't be used. */
struct KnownNodeSet {
  std::int64_t generation = 0;
  Result<NodeSet> spec;
  std::string create_again = {};      ///< its annotation of this name (create_stop.hpp)
  RecordsState records = {};          ///< as its status had it when it was first seen
  std::string stopped_template = {};  ///< the hash whose roll-out its status called stopped when it was first seen
};

/** All NodeSets of the namespace by name. */
using NodeSets = std::map<std::string, KnownNodeSet>;

}  // namespace slurmk8s
