// SPDX-License-Identifier: GPL-2.0-or-later
// Volume claims of a node.
#include "nodeset/claim_builder.hpp"

#include "nodeset/names.hpp"

namespace slurmk8s {
namespace {

std::string claim_name(const Json& claim, const std::string& node) {
  return std::string(claim.at({"metadata", "name"}).text()) + "-" + node;
}

/** The template's labels or annotations, as an object of our own. */
Json own(const Json& claim, const char* kind) {
  const Json given = claim.at({"metadata", kind});
  return given.is_object() ? given.clone() : Json::object();
}

}  // namespace

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
