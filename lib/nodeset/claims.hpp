// SPDX-License-Identifier: GPL-2.0-or-later
// Volume claims of a node: read from a NodeSet, and built. Named TEMPLATE-NODE, as a StatefulSet's are. Pure; any
// thread.
#pragma once

#include <string>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

struct NodeSet;

struct ClaimTemplates {
  std::vector<Json> templates;       ///< PersistentVolumeClaims; metadata.name is the name of the volume
  bool delete_with_nodeset = false;  ///< persistentVolumeClaimRetentionPolicy.whenDeleted: Delete
  bool delete_when_scaled = false;   ///< … whenScaled: Delete
};

/** Reads spec.volumeClaimTemplates and spec.persistentVolumeClaimRetentionPolicy. Error (invalid) names the field. */
Result<ClaimTemplates> decode_claims(const Json& spec);

/** The claims to create before the node's pod. */
std::vector<Json> build_claims(const NodeSet& nodeset, const std::string& node);
/** ownerReferences of a claim: the NodeSet, which deletes it, or none. */
Json claim_owners(const NodeSet& nodeset);
/** The pod's volumes of these claims. */
Json claim_volumes(const NodeSet& nodeset, const std::string& node);

}  // namespace slurmk8s
