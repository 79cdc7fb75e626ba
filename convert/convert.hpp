// SPDX-License-Identifier: GPL-2.0-or-later
// Convert: NodeSets of Slinky's slurm-operator (v1beta1), as objects or as values of its slurm chart, to slurm-k8s's;
// and all values of its chart to those of slurm-k8s's chart. Pure.
//
// Each field that is not carried over has a note. slinky_fields.hpp and chart_values.hpp map the fields.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

/** A field that is changed, left out or missing in the result. */
struct ConvertNote {
  enum class Kind {
    unneeded,  ///< not needed
    lost,      ///< not supported
    missing,   ///< a required field is missing
  };
  Kind kind;
  std::string where;  ///< "nodeset gpu: spec.ssh", "nodesetDefaults.ssh"
  std::string what;
};

/** "not needed", "not converted", "to be completed". */
const char* to_string(ConvertNote::Kind kind);

struct Conversion {
  bool as_values = false;      ///< what is wanted: values of our chart, not NodeSets
  std::vector<Json> nodesets;  ///< of slurm-k8s; with `as_values` none
  Json values;                 ///< with `as_values`: of our chart, the NodeSets among them
  std::vector<ConvertNote> notes;
  bool recognized = false;      ///< a document was a NodeSet, or values of the chart
  std::set<std::string> names;  ///< "NAMESPACE/NAME" of the NodeSets in the result

  /** True when something is lost or missing. */
  bool is_partial() const;
};

/**
 * Converts YAML documents and adds the result to `conversion`: Slinky's NodeSets, lists of them, values of its chart.
 * NodeSets of slurm-k8s stay unchanged.
 */
void convert_documents(const std::vector<Json>& documents, Conversion& conversion);

}  // namespace slurmk8s
