// SPDX-License-Identifier: GPL-2.0-or-later
// The volume claims of a node, from its NodeSet. Named TEMPLATE-NODE, as a StatefulSet's are. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "nodeset/nodeset.hpp"

namespace slurmk8s {

/** The claims to POST before the node's pod. */
std::vector<Json> build_claims(const NodeSet& nodeset, const std::string& node);
/** ownerReferences of a claim: the NodeSet, with which it then goes, or none. */
Json claim_owners(const NodeSet& nodeset);
/** The pod's volumes of these claims. */
Json claim_volumes(const NodeSet& nodeset, const std::string& node);

}  // namespace slurmk8s
