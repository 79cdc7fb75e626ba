// SPDX-License-Identifier: GPL-2.0-or-later
// Constraint: the features that a job asks for (`sbatch --constraint`), as alternatives. Pure; values; any thread.
//
// The text is a user's, and is read under slurmctld's locks: its length, its features and the work that it makes are
// bounded here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** Longest constraint, in bytes. It is Slurm's own limit, which Slurm checks after it has read the whole text. */
inline constexpr std::size_t kMaxConstraint = 1024;
/** Most features in it, repeated ones counted. */
inline constexpr std::size_t kMaxConstraintFeatures = 256;
/** Most alternatives when it is multiplied out: "(a|b)&(c|d)" has four. */
inline constexpr std::size_t kMaxAlternatives = 256;
/** Most steps of that: each feature that is put into an alternative is one. */
inline constexpr std::size_t kMaxConstraintWork = 4096;

/** Features that a node must have all of. */
using FeatureSet = std::vector<std::string>;

struct Constraint {
  /** Indices into `features`, each once, in their order. */
  using Alternative = std::vector<std::uint16_t>;

  /** Each once, as first written. They point into the text. */
  std::vector<std::string_view> features;
  /** In the order in which they are written: a node must fulfil one of them. Empty: anything will do. */
  std::vector<Alternative> alternatives;
  bool has_count = false;  ///< "a*2": of some nodes of the job only; "[a&b]" is such an expression, too
  std::size_t work = 0;    ///< steps that it took: at most kMaxConstraintWork

  /** An alternative's features by name. */
  FeatureSet names(const Alternative& alternative) const;
};

/**
 * Reads the expression as Slurm does when changeable features are in it (job_features_list2feature_sets() in
 * src/common/job_features.c): ',' is '&'; '&' binds tighter than '|'; parentheses, which don't nest, bind tightest; a
 * '|' within brackets is one of the same kind. It takes all that _feature_string2list() in job_scheduler.c takes (22.05
 * to 26.05), an operator at the end included. The result points into `text`. Error: invalid (what is wrong with it),
 * forbidden (over one of the limits above).
 */
Result<Constraint> parse_constraint(std::string_view text);

/** The features in a text of at most kMaxConstraint bytes, whatever its grammar; empty when it is longer. */
std::vector<std::string_view> features_in(std::string_view text);

}  // namespace slurmk8s
