// SPDX-License-Identifier: GPL-2.0-or-later
// CatalogKeeper: entries by NodeSet, ids by user.
#include "core/catalog_keeper.hpp"

#include <pwd.h>

#include <map>
#include <optional>
#include <vector>

namespace slurmk8s {
namespace {

/** May ask a directory service, and block as long as that takes. */
std::optional<std::uint32_t> find_uid(const std::string& user) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return std::nullopt;
  return entry.pw_uid;
}

}  // namespace

void CatalogKeeper::set(const std::string& nodeset, VariantCatalog::Entry entry) {
  VariantCatalog::Entry& known = catalog_.nodesets[nodeset];
  if (known == entry) return;
  known = std::move(entry);
  changed();
}

void CatalogKeeper::remove(const std::string& nodeset) {
  if (catalog_.nodesets.erase(nodeset) > 0) changed();
}

void CatalogKeeper::set_records(std::set<std::string> records) {
  if (catalog_.records == records) return;
  catalog_.records = std::move(records);
  changed();
}

void CatalogKeeper::set_complete() {
  if (complete_) return;
  complete_ = true;
  changed();
}

void CatalogKeeper::changed() {
  if (!publish_ || !complete_) return;
  publish_(&catalog_);
  find_users();
}

std::set<std::string> CatalogKeeper::unknown_users() const {
  std::set<std::string> users;
  for (const auto& [name, nodeset] : catalog_.nodesets) {
    for (const auto& [variant, access] : nodeset.variants) users.insert(access.users.begin(), access.users.end());
  }
  std::erase_if(users, [this](const std::string& user) { return catalog_.uids.contains(user); });
  return users;
}

void CatalogKeeper::find_users() {
  const std::set<std::string> unknown = unknown_users();
  if (!publish_ || !complete_ || unknown.empty()) return;
  slurm_.call([this, unknown](Slurm&) -> SlurmCaller::Then {
    std::map<std::string, std::uint32_t> found;
    for (const std::string& user : unknown) {
      if (const auto uid = find_uid(user)) found.emplace(user, *uid);
    }
    return [this, found = std::move(found)] {
      if (found.empty()) return;
      for (const auto& [user, uid] : found) catalog_.uids.insert_or_assign(user, uid);
      publish_(&catalog_);
    };
  });
}

}  // namespace slurmk8s
