// SPDX-License-Identifier: GPL-2.0-or-later
// decode_claims(): what a NodeSet says of volume claims.
#include "nodeset/claims.hpp"

#include <set>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

/** Retain, which is the default, or Delete. */
Result<bool> decode_policy(const Json& policy, const char* member) {
  const Json value = policy[member];
  if (value.is_null() || value.text() == "Retain") return false;
  if (value.text() == "Delete") return true;
  return unsupported_field(std::string("spec.persistentVolumeClaimRetentionPolicy.") + member, value,
                           {"Retain", "Delete"});
}

}  // namespace

Result<ClaimTemplates> decode_claims(const Json& spec) {
  ClaimTemplates claims;
  const Json list = spec["volumeClaimTemplates"];
  if (!list.is_null() && !list.is_array())
    return invalid_field("spec.volumeClaimTemplates", list.type_name(), "must be an array");
  std::set<std::string> names;
  for (std::size_t i = 0; i < list.size(); i++) {
    const Json claim = list[i];
    const std::string field = format("spec.volumeClaimTemplates[%zu]", i);
    const std::string name(claim.at({"metadata", "name"}).text());
    if (!is_dns_label(name))
      return invalid_field(field + ".metadata.name", name, "must be lower-case letters, digits and '-'");
    if (!names.insert(name).second) return duplicate_field(field + ".metadata.name", name);
    if (!claim["spec"].is_object()) return required_field(field + ".spec");
    claims.templates.push_back(claim);
  }
  const Json policy = spec["persistentVolumeClaimRetentionPolicy"];
  if (!policy.is_null() && !policy.is_object()) {
    return invalid_field("spec.persistentVolumeClaimRetentionPolicy", policy.type_name(), "must be an object");
  }
  claims.delete_with_nodeset = SLURMK8S_TRY(decode_policy(policy, "whenDeleted"));
  claims.delete_when_scaled = SLURMK8S_TRY(decode_policy(policy, "whenScaled"));
  return claims;
}

}  // namespace slurmk8s
