// SPDX-License-Identifier: GPL-2.0-or-later
// Volume claims of a node.
#include "nodeset/claims.hpp"

#include <set>

#include "base/strings.hpp"
#include "nodeset/field_error.hpp"
#include "nodeset/names.hpp"
#include "nodeset/nodeset.hpp"

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

std::string claim_name(const Json& claim, const std::string& node) {
  return std::string(claim.at({"metadata", "name"}).text()) + "-" + node;
}

/** A copy of the template's labels or annotations. */
Json own(const Json& claim, const char* kind) {
  const Json members = claim.at({"metadata", kind});
  return members.is_object() ? members.clone() : Json::object();
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

Json claim_owners(const NodeSet& nodeset) {
  Json owners = Json::array();
  if (nodeset.claims.delete_with_nodeset) owners.push(owner_reference(nodeset));
  return owners;
}

std::vector<Json> build_claims(const NodeSet& nodeset, const std::string& node) {
  std::vector<Json> claims;
  for (const Json& one : nodeset.claims.templates) {
    Json labels = own(one, "labels");
    labels.set(kLabelManagedBy, "slurm-k8s").set(kLabelNodeSet, nodeset.name).set(kLabelNode, node);
    Json metadata = Json::object();
    metadata.set("name", claim_name(one, node))
        .set("namespace", nodeset.name_space)
        .set("labels", std::move(labels))
        .set("annotations", own(one, "annotations"))
        .set("ownerReferences", claim_owners(nodeset));
    Json claim = Json::object();
    claim.set("apiVersion", "v1")
        .set("kind", "PersistentVolumeClaim")
        .set("metadata", std::move(metadata))
        .set("spec", one["spec"].clone());
    claims.push_back(std::move(claim));
  }
  return claims;
}

Json claim_volumes(const NodeSet& nodeset, const std::string& node) {
  Json volumes = Json::array();
  for (const Json& one : nodeset.claims.templates) {
    Json source = Json::object().set("claimName", claim_name(one, node));
    Json volume = Json::object();
    volume.set("name", std::string(one.at({"metadata", "name"}).text()))
        .set("persistentVolumeClaim", std::move(source));
    volumes.push(std::move(volume));
  }
  return volumes;
}

}  // namespace slurmk8s
