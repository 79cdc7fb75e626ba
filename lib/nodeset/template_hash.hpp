// SPDX-License-Identifier: GPL-2.0-or-later
// Hash of a NodeSet's template, to find pods of a former template. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace slurmk8s {

struct NodeSet;

/**
 * "1-0f3a…", a valid label: the same for a template with its members in any order. It covers spec.template,
 * spec.slurmd, the node's definition (sizes and extraConf) and the names of volumeClaimTemplates, not slurm-k8s.conf.
 * The number before the dash is the version of this computation.
 */
std::string hash_template(const NodeSet& nodeset);

/** Hash of a text. */
std::string hash_text(std::string_view text);

/** Hash of the template and all variants. */
std::string revision_of(const NodeSet& nodeset);

/**
 * Whether a pod with the hash `made_from` has another template than `present`. False for a pod without a hash, or with
 * a hash of another version: otherwise an upgrade of slurm-k8s would recycle every node.
 */
bool is_former_template(std::string_view made_from, std::string_view present);

}  // namespace slurmk8s
