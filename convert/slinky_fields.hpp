// SPDX-License-Identifier: GPL-2.0-or-later
// How fields of Slinky's NodeSets are converted. A unit test compares docs/admin/from-slinky.md with it. Constant.
#pragma once

#include <span>
#include <string_view>

namespace slurmk8s {

/** As SlinkyField::harmless: a section that is off unless `enabled`. */
inline constexpr std::string_view kSlinkyDisabled = "enabled: false";

/** Why a field that build_pod() writes last is left out. */
inline constexpr std::string_view kSetByUs = "slurm-k8s sets it for every pod of a node";

/** One row of the conversion; a path that ends in ".*" matches all other fields there. */
struct SlinkyField {
  std::string_view object;    ///< path in a NodeSet; empty: only the chart has it
  std::string_view value;     ///< path below nodesets.NAME of the chart's values; empty: only the object has it
  std::string_view target;    ///< path in our NodeSet; empty: it is left out
  bool is_lost;               ///< left out although it has an effect, unless empty or `harmless`
  std::string_view harmless;  ///< the value without effect; empty: false, 0, and empty values
  std::string_view note;      ///< the reason, or a hint
};
std::span<const SlinkyField> slinky_fields();

/** A value of the chart, other than `nodesets` and `nodesetDefaults`, that applies to NodeSets. */
struct SlinkyChartValue {
  std::string_view name;
  std::string_view target;
  std::string_view note;
};
std::span<const SlinkyChartValue> slinky_chart_values();

}  // namespace slurmk8s
