// SPDX-License-Identifier: GPL-2.0-or-later
// CatalogKeeper: puts the VariantCatalog together from NodeSets, and hands out each new one. The engine's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/user_lookup.hpp"
#include "nodeset/variants.hpp"

namespace slurmk8s {

class CatalogKeeper {
 public:
  /** Null: the last catalog is out of date. False: the call failed, and is repeated. */
  using Publish = std::function<bool(const VariantCatalog* catalog)>;

  /** Ids of users as a former engine found them; may read a file. */
  using FormerIds = std::function<std::map<std::string, std::uint32_t>()>;

  /**
   * `publish` empty: nothing is published. `users` outlives it; null: no user is looked up. `former_ids`, asked once,
   * count until a user is found; empty: there are none.
   */
  CatalogKeeper(UserLookup* users, Publish publish, FormerIds former_ids = {})
      : users_(users), publish_(std::move(publish)), former_ids_(std::move(former_ids)) {}
  ~CatalogKeeper() {
    if (publish_) publish_(nullptr);
  }
  CatalogKeeper(const CatalogKeeper&) = delete;
  CatalogKeeper& operator=(const CatalogKeeper&) = delete;

  void set(const std::string& nodeset, VariantCatalog::Entry entry);
  void remove(const std::string& nodeset);
  /** AvailableFeatures of all of Slurm's records. As before: what is still to be handed out is. */
  void set_records(std::set<std::string> records);
  /** All NodeSets are there: from now on each change is handed out. */
  void set_complete();
  /** Looks for users that the machine didn't know the last time. */
  void find_users();

 private:
  void changed();
  void hand_out();
  void take_former_ids();
  std::set<std::string> named_users() const;
  std::set<std::string> unknown_users() const;

  UserLookup* const users_;
  const Publish publish_;
  const FormerIds former_ids_;
  VariantCatalog catalog_;
  std::set<std::string> found_;  // users, by this engine
  bool complete_ = false;
  bool is_handed_out_ = true;  // the last change
};

}  // namespace slurmk8s
