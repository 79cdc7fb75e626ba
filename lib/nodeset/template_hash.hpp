// SPDX-License-Identifier: GPL-2.0-or-later
// A NodeSet's template as one short word, by which a pod that was made from another one is told. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

/** What makes a node's pod. */
struct TemplateParts {
  Json pod_metadata;
  Json pod_spec;
  Json slurmd;
  std::string node_definition;
  std::vector<Json> claims;  ///< volumeClaimTemplates
};

/**
 * "1-0f3a…": the same for the same template in any order of its members, and fit for a label. The template is what
 * makes a node's pod: spec.template, spec.slurmd, the node's definition (sizes and extraConf) and the names of
 * volumeClaimTemplates; not the settings of slurm-k8s.conf. The number before the dash counts up when slurm-k8s
 * computes it from other things than before.
 */
std::string hash_template(const TemplateParts& parts);

/** A text as one short word. */
std::string hash_text(std::string_view text);

/** hash_text() with the number that hash_template() has: for what is made of such hashes. */
std::string hash_revision(std::string_view text);

/**
 * Whether a pod with the hash `made_from` has another template than `present`. A pod without one, or with one of
 * another slurm-k8s, can't be told and has not: otherwise a new slurm-k8s would recycle every node.
 */
bool is_former_template(std::string_view made_from, std::string_view present);

}  // namespace slurmk8s
