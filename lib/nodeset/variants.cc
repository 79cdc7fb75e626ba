// SPDX-License-Identifier: GPL-2.0-or-later
// The catalog as the file in StateSaveLocation has it.
#include "nodeset/variants.hpp"

#include <string_view>

namespace slurmk8s {
namespace {

Json encode_names(const std::set<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push(name);
  return list;
}

std::set<std::string> decode_names(const Json& list) {
  std::set<std::string> names;
  list.each([&](const Json& name) { names.emplace(name.text()); });
  return names;
}

}  // namespace

Json VariantCatalog::encode() const {
  Json all = Json::object();
  for (const auto& [name, nodeset] : nodesets) {
    Json variants = Json::object();
    for (const auto& [variant, access] : nodeset.variants) {
      variants.set(
          variant,
          Json::object().set("users", encode_names(access.users)).set("accounts", encode_names(access.accounts)));
    }
    all.set(name, Json::object().set("features", encode_names(nodeset.features)).set("variants", std::move(variants)));
  }
  Json ids = Json::object();
  for (const auto& [user, uid] : uids) ids.set(user, Json::integer(uid));
  return Json::object()
      .set("nodesets", std::move(all))
      .set("uids", std::move(ids))
      .set("records", encode_names(records));
}

Result<VariantCatalog> VariantCatalog::decode(const Json& object) {
  if (!object["nodesets"].is_object()) return Error(Errc::invalid, "nodesets: must be an object");
  VariantCatalog catalog;
  object["nodesets"].each([&](std::string_view name, const Json& value) {
    Entry& entry = catalog.nodesets[std::string(name)];
    entry.features = decode_names(value["features"]);
    value["variants"].each([&](std::string_view variant, const Json& access) {
      entry.variants[std::string(variant)] = {.users = decode_names(access["users"]),
                                              .accounts = decode_names(access["accounts"])};
    });
  });
  object["uids"].each([&](std::string_view user, const Json& uid) {
    const std::int64_t id = uid.integer_or(-1);
    if (id >= 0 && id <= UINT32_MAX) catalog.uids[std::string(user)] = static_cast<std::uint32_t>(id);
  });
  catalog.records = decode_names(object["records"]);
  return catalog;
}

}  // namespace slurmk8s
