// SPDX-License-Identifier: GPL-2.0-or-later
// Templates of a node's volume claims, as a NodeSet has them. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "json/json.hpp"

namespace slurmk8s {

struct ClaimTemplates {
  std::vector<Json> templates;       ///< PersistentVolumeClaims; metadata.name is the name of the volume
  bool delete_with_nodeset = false;  ///< persistentVolumeClaimRetentionPolicy.whenDeleted: Delete
  bool delete_when_scaled = false;   ///< … whenScaled: Delete
};

/** Reads spec.volumeClaimTemplates and spec.persistentVolumeClaimRetentionPolicy. Error (invalid) names the field. */
Result<ClaimTemplates> decode_claims(const Json& spec);

}  // namespace slurmk8s
