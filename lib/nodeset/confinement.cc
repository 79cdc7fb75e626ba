// SPDX-License-Identifier: GPL-2.0-or-later
// spec.confinement.
#include "nodeset/confinement.hpp"

#include <utility>

#include "nodeset/field_error.hpp"
#include "nodeset/names.hpp"

namespace slurmk8s {

Result<Confinement> decode_confinement(const Json& spec) {
  const Json value = spec["confinement"];
  if (value.is_null() || value.text() == "None") return Confinement::none;
  if (value.text() == "Cgroup") return Confinement::cgroup;
  if (value.text() == "Privileged") return Confinement::privileged;
  return unsupported_field("spec.confinement", value, {"None", "Cgroup", "Privileged"});
}

std::string confinement_name(Confinement confinement) {
  switch (confinement) {
    case Confinement::none: return {};
    case Confinement::cgroup: return "Cgroup";
    case Confinement::privileged: return "Privileged";
  }
  return {};
}

bool has_sys_admin(const Json& security) {
  bool found = security["privileged"].boolean_or(false);
  security.at({"capabilities", "add"}).each([&found](const Json& one) {
    const std::string_view name = one.text();
    found = found || name == "ALL" || name == "SYS_ADMIN" || name == "CAP_SYS_ADMIN";
  });
  return found;
}

Json confinement_overlay(const Json& spec, Confinement confinement) {
  Json containers = Json::array();
  if (confinement == Confinement::privileged) {
    spec["containers"].each([&](const Json& container) {
      if (container["name"].text() != kSlurmdContainer) return;
      const Json security = container["securityContext"];
      Json changed = Json::object();
      if (!has_sys_admin(security)) {
        const Json given = security.at({"capabilities", "add"});
        Json add = given.is_array() ? given.clone() : Json::array();
        changed.set("capabilities", Json::object().set("add", add.push("SYS_ADMIN")));
      }
      if (security["appArmorProfile"].is_null() && spec.at({"securityContext", "appArmorProfile"}).is_null()) {
        changed.set("appArmorProfile", Json::object().set("type", "Unconfined"));
      }
      containers.push(Json::object().set("name", kSlurmdContainer).set("securityContext", std::move(changed)));
    });
  }
  return Json::object().set("containers", std::move(containers));
}

}  // namespace slurmk8s
