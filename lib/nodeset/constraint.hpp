// SPDX-License-Identifier: GPL-2.0-or-later
// Constraint: the features that a job requires (`sbatch --constraint`), as alternatives. Pure; values; any thread.
//
// The text comes from a user, and is parsed under slurmctld's locks: its length, features and work are bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** Maximum length in bytes: Slurm's own limit, which Slurm checks after it has parsed the whole text. */
inline constexpr std::size_t kMaxConstraint = 1024;
/** Maximum number of features, repeated ones counted. */
inline constexpr std::size_t kMaxConstraintFeatures = 256;
/** Maximum number of alternatives after expansion: "(a|b)&(c|d)" has four. */
inline constexpr std::size_t kMaxAlternatives = 256;
/** Maximum steps of the expansion: one for each feature added to an alternative. */
inline constexpr std::size_t kMaxConstraintWork = 4096;

/** Features; a node must have all of them. */
using FeatureSet = std::vector<std::string>;

struct Constraint {
  /** Indices into `features`, each once, in their order. */
  using Alternative = std::vector<std::uint16_t>;

  /** Each once, as first written. Views into the text. */
  std::vector<std::string_view> features;
  /** In the order of the text: a node must fulfil one of them. Empty: any node. */
  std::vector<Alternative> alternatives;
  bool has_count = false;  ///< "a*2", for some nodes of the job only; also "[a&b]"
  std::size_t work = 0;    ///< steps of the expansion

  /** An alternative's features by name. */
  FeatureSet names(const Alternative& alternative) const;
};

/**
 * Reads the expression as Slurm does when changeable features are in it (job_features_list2feature_sets() in
 * src/common/job_features.c): ',' is '&'; '&' binds tighter than '|'; parentheses, which do not nest, bind tightest; a
 * '|' within brackets is the same. Accepts all that _feature_string2list() in job_scheduler.c takes (22.05
 * to 26.05), also an operator at the end. The result points into `text`. Error: invalid (syntax), forbidden (over one
 * of the limits above).
 */
Result<Constraint> parse_constraint(std::string_view text);

/** The features in a text of at most kMaxConstraint bytes, also in one with invalid syntax; empty when it is longer. */
std::vector<std::string_view> features_in(std::string_view text);

}  // namespace slurmk8s
