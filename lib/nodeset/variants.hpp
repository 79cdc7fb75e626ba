// SPDX-License-Identifier: GPL-2.0-or-later
// Variants: the pods among which a job can choose with --constraint, and who may. Pure; values; any thread.
//
// A variant is a feature of its NodeSet's nodes that slurmctld may change: a node runs one at a time, and which one is
// decided when its pod is made. The engine makes a catalog of them of all NodeSets; slurmctld's plugins ask a
// VariantIndex of it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/result.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Who may ask for a variant: everybody when both are empty, else the users, and all jobs of the accounts. */
struct VariantAccess {
  std::set<std::string> users;
  std::set<std::string> accounts;  ///< lower case, as Slurm has them
  bool is_open() const { return users.empty() && accounts.empty(); }
  bool operator==(const VariantAccess&) const = default;
};

/** The variants of all NodeSets, with what else of their nodes a constraint can name. */
class VariantCatalog {
 public:
  struct Entry {
    std::set<std::string> features;  ///< of the nodes, whatever their variant
    std::map<std::string, VariantAccess> variants;
    bool operator==(const Entry&) const = default;
  };

  /** By NodeSet. */
  std::map<std::string, Entry> nodesets;
  /** Ids of these users, as far as slurmctld's host knows them. */
  std::map<std::string, std::uint32_t> uids;
  /** AvailableFeatures of Slurm's nodes, each text once: those of slurm.conf are in no NodeSet. */
  std::set<std::string> records;

  bool operator==(const VariantCatalog&) const = default;

  /** As it is kept over a restart of slurmctld, which reads jobs and nodes back before the NodeSets are known. */
  Json encode() const;
  static Result<VariantCatalog> decode(const Json& object);
};

}  // namespace slurmk8s
