// SPDX-License-Identifier: GPL-2.0-or-later
// VariantIndex: a VariantCatalog indexed for the queries of slurmctld's plugins under its locks. Immutable; any thread.
//
// A query costs at most kMaxQuestionWork steps in addition to those of parse_constraint(), however many NodeSets,
// variants, users and records there are. If that is not enough the job is let through: slurmctld decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "nodeset/constraint.hpp"
#include "nodeset/variants.hpp"

namespace slurmk8s {

/** Maximum number of list accesses for one query. */
inline constexpr std::size_t kMaxQuestionWork = 8192;

/** The user of a job's constraint. */
struct Applicant {
  std::uint32_t uid = 0;
  std::string account;       ///< of the job, lower case; empty: the user's default account
  bool is_operator = false;  ///< root or SlurmUser: has access to every variant
};

/** Result of judge(). */
struct ConstraintVerdict {
  bool refused = false;
  std::string settled;   ///< the constraint that replaces the job's; empty: unchanged
  std::string text;      ///< for the user: why it is refused, or which NodeSets there are
  std::size_t work = 0;  ///< steps of parse_constraint() and of the index
};

class VariantIndex {
 public:
  VariantIndex() = default;
  /** Takes time linear in the catalog: not under Slurm's locks. */
  explicit VariantIndex(const VariantCatalog& catalog);

  /** Whether a NodeSet has a variant of this name. */
  bool is_variant(std::string_view feature) const;

  /**
   * Checks a job's constraint. `applicant` null: any user, whose constraint was checked before; nothing is settled.
   *
   * Settled: a constraint that has alternatives, with a variant among them, becomes the first alternative that a
   * NodeSet can fulfil and that the applicant has access to; else the first one that a NodeSet can fulfil, else the
   * first. slurmctld cannot choose: with a '|' it takes nodes that are up whatever variant they run (_valid_features()
   * in node_scheduler.c, 22.05 to 26.05, checks active features within parentheses only, except the first).
   *
   * Refused: two variants of one node; alternatives that were not settled; a count, which needs nodes of different
   * variants; a variant without access; a limit of parse_constraint() exceeded; and an invalid constraint with a
   * variant, which Slurm would expand without a limit. Other invalid constraints pass: slurmctld refuses them.
   */
  ConstraintVerdict judge(std::string_view constraint, const Applicant* applicant) const;

  /**
   * The variant for the nodes of a job: of the first alternative that all of them can fulfil; empty: none. `nodes` is a
   * hostlist. No value: `nodes` is null, and the variant depends on them.
   */
  std::optional<std::string> choose(std::string_view constraint, const char* nodes) const;

 private:
  class Question;

  struct Access {
    bool open = false;
    std::unordered_set<std::uint32_t> uids;
    std::set<std::string> accounts;
    bool admits(const Applicant* applicant) const;
  };
  struct Feature {
    std::vector<std::uint32_t> groups;  ///< of nodes, ascending: NodeSets, then records
    std::optional<Access> variant;      ///< of all NodeSets together, if it is a variant
  };
  struct Group {
    std::string name;
    std::string features;  ///< without the name, for users
    std::map<std::string, Access> variants;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  static Access resolve(const VariantAccess& access, const VariantCatalog& catalog);
  void add_nodeset(const std::string& name, const VariantCatalog::Entry& entry, const VariantCatalog& catalog);
  const Feature* find(std::string_view feature) const;
  std::string describe(const Applicant& applicant) const;
  std::optional<std::uint32_t> owner_of(std::string_view node) const;
  std::vector<std::optional<std::uint32_t>> owners_of(std::string_view hostlist) const;

  std::unordered_map<std::string, Feature, Hash, std::equal_to<>> features_;
  std::vector<Group> nodesets_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;  ///< of NodeSets, in `nodesets_`
};

}  // namespace slurmk8s
