// SPDX-License-Identifier: GPL-2.0-or-later
// Variants: pod templates that a job can choose with --constraint, and who may. Pure; values; any thread.
//
// A variant is a changeable feature of its NodeSet's nodes: a node runs one at a time, chosen when its pod is created.
// The engine builds a catalog of the variants of all NodeSets; slurmctld's plugins query a VariantIndex of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Who may use a variant: everybody if both are empty, else these users, and all jobs of these accounts. */
struct VariantAccess {
  std::set<std::string> users;
  std::set<std::string> accounts;  ///< lower case, as Slurm has them
  bool is_open() const { return users.empty() && accounts.empty(); }
  bool operator==(const VariantAccess&) const = default;
};

/** The variants of all NodeSets, with the other features that a constraint can name. */
class VariantCatalog {
 public:
  struct Entry {
    std::set<std::string> features;  ///< of the nodes, without variants
    std::map<std::string, VariantAccess> variants;
    bool operator==(const Entry&) const = default;
  };

  /** By NodeSet. */
  std::map<std::string, Entry> nodesets;
  /** Ids of these users, as far as slurmctld's host knows them. */
  std::map<std::string, std::uint32_t> uids;
  /** AvailableFeatures of all node records, each text once: nodes of slurm.conf are in no NodeSet. */
  std::set<std::string> records;

  bool operator==(const VariantCatalog&) const = default;

  /** Saved for a restart of slurmctld, which loads jobs and nodes before the NodeSets are known. */
  Json encode() const;
  static Result<VariantCatalog> decode(const Json& object);
};

}  // namespace slurmk8s
