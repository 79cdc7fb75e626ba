// SPDX-License-Identifier: GPL-2.0-or-later
// Variants: the pods among which a job can choose with --constraint, and who may. Pure; values; any thread.
//
// A variant is a feature of its NodeSet's nodes that slurmctld may change: a node runs one at a time, and which one is
// decided when its pod is made. slurmctld's plugins ask a catalog of them, which the engine makes of all NodeSets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/constraint.hpp"
#include "json/json.hpp"

namespace slurmk8s {

/** Who may ask for a variant: everybody when both are empty, else the users, and all jobs of the accounts. */
struct VariantAccess {
  std::set<std::string> users;
  std::set<std::string> accounts;  ///< lower case, as Slurm has them
  bool is_open() const { return users.empty() && accounts.empty(); }
  bool operator==(const VariantAccess&) const = default;
};

/** Who asks. */
struct Applicant {
  std::uint32_t uid = 0;
  std::string account;        ///< that the job names; empty: the user's default one
  bool is_operator = false;   ///< root or SlurmUser: may ask for everything
};

/** The variants of all NodeSets, with what else of their nodes a constraint can name. */
class VariantCatalog {
 public:
  struct Entry {
    std::set<std::string> features;                  ///< of the nodes, whatever their variant
    std::map<std::string, VariantAccess> variants;
    bool operator==(const Entry&) const = default;
  };

  /** By NodeSet. */
  std::map<std::string, Entry> nodesets;
  /** Of the users in it: those that the machine knows. */
  std::map<std::string, std::uint32_t> uids;
  /** AvailableFeatures of Slurm's nodes, each text once: those of slurm.conf are in no NodeSet. */
  std::set<std::string> records;

  bool operator==(const VariantCatalog&) const = default;

  bool is_variant(const std::string& feature) const;

  /**
   * The constraint without alternatives, when it has some and a variant among them: the first one that a NodeSet can
   * fulfil, else the first. Empty: it may stay as it is. slurmctld can't be left to choose: with a '|' it takes nodes that
   * are up for good whatever variant they run (_valid_features() in node_scheduler.c, 22.05 to 26.05, looks at active
   * features within parentheses only, and there not at the first).
   */
  std::string settle(std::string_view constraint) const;

  /**
   * Whether slurmctld can do what a constraint asks for. Error, a sentence for the user: invalid (two variants of one
   * node; alternatives, which settle() takes away; a count, which would need nodes of different variants), forbidden (a
   * variant that is not for them). A
   * constraint without variants is fine; so is a wrong one: slurmctld says so itself. `applicant` null: whoever it is.
   */
  Status check(std::string_view constraint, const Applicant* applicant) const;

  /** What to tell a user whose constraint no NodeSet fulfils: what there is. Empty when one does, or a node of Slurm's. */
  std::string describe_unknown(std::string_view constraint) const;

  /**
   * The variant that nodes are to have for a job: of the first alternative that all of them can fulfil. `nodes` empty:
   * they aren't known, the first alternative. Empty: the job names none.
   */
  std::string choose(std::string_view constraint, const std::vector<std::string>& nodes) const;

  /** As it is kept over a restart of slurmctld, which reads jobs and nodes back before the NodeSets are known. */
  Json encode() const;
  static Result<VariantCatalog> decode(const Json& object);

 private:
  Status check_access(const std::string& variant, const Applicant& applicant) const;
  bool is_known(const std::string& feature) const;
  bool is_fulfilled(const FeatureSet& features) const;
  bool has_record(const FeatureSet& features) const;
  std::optional<std::string> variant_in(const FeatureSet& features) const;
  bool can_fulfil(const std::string& node, const FeatureSet& features) const;
};

}  // namespace slurmk8s
