// SPDX-License-Identifier: GPL-2.0-or-later
// Tolerations of the file of --users.
#include "bridge/tolerations.hpp"

#include <string>

#include "base/strings.hpp"
#include "json/yaml.hpp"
#include "nodeset/field_error.hpp"

namespace slurmk8s {
namespace {

Status check_toleration(const Json& toleration, const std::string& path) {
  const std::string_view op = toleration["operator"].text("Equal");
  if (op != "Equal" && op != "Exists")
    return unsupported_field(path + ".operator", toleration["operator"], {"Equal", "Exists"});
  if (toleration["effect"].text("NoSchedule") != "NoSchedule")
    return unsupported_field(path + ".effect", toleration["effect"], {"NoSchedule"});
  if (toleration["key"].text().empty() && op != "Exists") return required_field(path + ".key");
  return {};
}

}  // namespace

Result<std::vector<Toleration>> parse_bridge_tolerations(std::string_view yaml) {
  const std::vector<Json> documents = SLURMK8S_TRY(parse_yaml_documents(yaml));
  if (documents.empty()) return std::vector<Toleration>();
  const Json tolerations = documents.front()["tolerations"];
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    SLURMK8S_CHECK(check_toleration(tolerations[i], format("tolerations[%zu]", i)));
  }
  return decode_tolerations(tolerations);
}

}  // namespace slurmk8s
