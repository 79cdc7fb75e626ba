// SPDX-License-Identifier: GPL-2.0-or-later
// Convert: NodeSets of Slinky's slurm-operator (v1beta1), as objects or as values of its slurm chart, to ours. Pure.
//
// Nothing is left out in silence: what isn't carried over has a note. slinky_fields.hpp says which field becomes what.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

/** What became of one field that isn't in the result as it was. */
struct ConvertNote {
  enum class Kind {
    unneeded,  ///< nothing is missing without it
    lost,      ///< it meant something that we can't say
    missing,   ///< the result lacks something that ours needs
  };
  Kind kind;
  std::string where;  ///< "nodeset gpu: spec.ssh", "nodesetDefaults.ssh"
  std::string what;
};

/** "not needed", "not converted", "to be completed". */
const char* to_string(ConvertNote::Kind kind);

struct Conversion {
  std::vector<Json> nodesets;  ///< ours
  std::vector<ConvertNote> notes;
  bool recognized = false;      ///< some document was a NodeSet, or values of the chart
  std::set<std::string> names;  ///< "NAMESPACE/NAME" of what is in `nodesets`

  /** True when something is lost or missing. */
  bool is_partial() const;
};

/**
 * Converts YAML documents and adds the result to `conversion`: Slinky's NodeSets, lists of them, values of its chart.
 * Ours come out as they are.
 */
void convert_documents(const std::vector<Json>& documents, Conversion& conversion);

}  // namespace slurmk8s
