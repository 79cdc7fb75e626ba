// SPDX-License-Identifier: GPL-2.0-or-later
// Hash of a NodeSet's template, to find pods of a former template. Pure; any thread.
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
  std::vector<Json> claims;      ///< volumeClaimTemplates
  std::string confinement = {};  ///< spec.confinement; empty: None
};

/**
 * "1-0f3a…", a valid label: the same for a template with its members in any order. It covers spec.template,
 * spec.slurmd, the node's definition (sizes and extraConf), the names of volumeClaimTemplates and the confinement, not
 * slurm-k8s.conf.
 * The number before the dash is the version of this computation.
 */
std::string hash_template(const TemplateParts& parts);

/** Hash of a text. */
std::string hash_text(std::string_view text);

/** hash_text() with the number that hash_template() has: for what is made of such hashes. */
std::string hash_revision(std::string_view text);

/**
 * Whether a pod with the hash `made_from` has another template than `present`. False for a pod without a hash, or with
 * a hash of another version: otherwise an upgrade of slurm-k8s would recycle every node.
 */
bool is_former_template(std::string_view made_from, std::string_view present);

}  // namespace slurmk8s
