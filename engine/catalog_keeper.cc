// SPDX-License-Identifier: GPL-2.0-or-later
// CatalogKeeper: entries by NodeSet, ids by user.
#include "engine/catalog_keeper.hpp"

namespace slurmk8s {
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
  if (catalog_.records == records) {
    if (!is_handed_out_) hand_out();
    return;
  }
  catalog_.records = std::move(records);
  changed();
}

void CatalogKeeper::set_complete() {
  if (complete_) return;
  complete_ = true;
  if (former_ids_) take_former_ids();
  changed();
}

/** A directory may take minutes to answer: until then the users would be refused what they may have. */
void CatalogKeeper::take_former_ids() {
  const std::set<std::string> named = named_users();
  for (const auto& [user, uid] : former_ids_()) {
    if (named.contains(user)) catalog_.uids.emplace(user, uid);
  }
}

void CatalogKeeper::changed() {
  if (!publish_ || !complete_) return;
  hand_out();
  find_users();
}

void CatalogKeeper::hand_out() { is_handed_out_ = publish_(&catalog_); }

std::set<std::string> CatalogKeeper::named_users() const {
  std::set<std::string> users;
  for (const auto& [name, nodeset] : catalog_.nodesets) {
    for (const auto& [variant, access] : nodeset.variants) users.insert(access.users.begin(), access.users.end());
  }
  return users;
}

std::set<std::string> CatalogKeeper::unknown_users() const {
  std::set<std::string> users = named_users();
  std::erase_if(users, [this](const std::string& user) { return found_.contains(user); });
  return users;
}

void CatalogKeeper::find_users() {
  const std::set<std::string> unknown = unknown_users();
  if (!publish_ || !users_ || !complete_ || unknown.empty()) return;
  users_->find(unknown, [this](const UserLookup::Found& found) {
    const auto before = catalog_.uids;
    for (const auto& [user, uid] : found) {
      found_.insert(user);
      catalog_.uids.insert_or_assign(user, uid);
    }
    if (catalog_.uids != before) hand_out();
  });
}

}  // namespace slurmk8s
