// SPDX-License-Identifier: GPL-2.0-or-later
// Constraint: the features that a job asks for (`sbatch --constraint`), as alternatives. Pure; values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace slurmk8s {

/** Features that a node must have all of. */
using FeatureSet = std::vector<std::string>;

struct Constraint {
  /** In the order in which they are written: a node must fulfil one of them. Empty: anything will do. */
  std::vector<FeatureSet> alternatives;
  bool has_count = false;  ///< "a*2": of some nodes of the job only; "[a&b]" is such an expression, too
};

/**
 * Reads the expression as Slurm does when changeable features are in it (job_features_list2feature_sets() in
 * src/common/job_features.c): ',' is '&'; '&' binds tighter than '|'; parentheses, which don't nest, bind tightest; a '|'
 * within brackets is one of the same kind. Error (invalid): what is wrong with it, or more than 256 alternatives.
 */
Result<Constraint> parse_constraint(std::string_view text);

}  // namespace slurmk8s
