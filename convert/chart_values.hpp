// SPDX-License-Identifier: GPL-2.0-or-later
// Values of Slinky's slurm chart, other than its NodeSets, as values of slurm-k8s's chart. Pure; any thread.
//
// Each key of the input is in the result, or has a note: also one that is in no table.
#pragma once

#include <span>
#include <string_view>

#include "convert/convert.hpp"

namespace slurmk8s {

/** One row of the conversion; a path that ends in ".*" matches all other keys there. */
struct SlinkyChartField {
  std::string_view path;
  std::string_view target;    ///< in our values; empty: it is left out
  bool is_lost;               ///< left out although it has an effect, unless empty or `harmless`
  std::string_view harmless;  ///< the value without effect; empty: false, 0, and empty values
  std::string_view note;      ///< the reason, or a hint
  std::string_view when;      ///< a switch of the input without which it has no effect; empty: none
};
/** Those with a row. `nodesets`, `loginsets`, `partitions` and scripts are converted by rules of their own. */
std::span<const SlinkyChartField> slinky_chart_fields();
/** Rows below loginsets.NAME: our chart has one set of login pods, `login`. */
std::span<const SlinkyChartField> slinky_login_fields();

/** Adds what the values say, but for NodeSets, to conversion.values, and notes. */
void convert_chart_values(const Json& values, Conversion& conversion);

/** Adds a NodeSet of slurm-k8s to conversion.values as an entry of `nodesets`; without the entry of our defaults. */
void add_values_entry(const Json& nodeset, Conversion& conversion);

}  // namespace slurmk8s
